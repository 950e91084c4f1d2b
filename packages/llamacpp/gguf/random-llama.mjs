// A model of the Llama architecture with random weights. Its speed does not depend on the values of
// the weights.
import { value } from './layout.mjs';
import { TOKENS_WITHOUT_TEXT, vocabulary } from './vocabulary.mjs';

const TEMPLATE =
  "{{ bos_token }}{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}";

/** 29.4 million parameters, 8,192 bytes of KV a token. */
export const DEFAULT_SHAPE = {
  layers: 8,
  width: 512,
  heads: 8,
  kvHeads: 4,
  feedForward: 1536,
  vocab: 4096,
  context: 4096,
};

/** Keys and values of all layers, two bytes each. */
export function kvBytesPerToken({ layers, width, heads, kvHeads }) {
  return 2 * layers * kvHeads * (width / heads) * 2;
}

export function metadataOf(shape) {
  const { tokens, scores, kinds, unknown, begin, end } = vocabulary(shape.vocab);
  return [
    ['general.architecture', value.string('llama')],
    ['general.name', value.string('random')],
    ['general.file_type', value.uint32(1)],
    ['llama.context_length', value.uint32(shape.context)],
    ['llama.embedding_length', value.uint32(shape.width)],
    ['llama.block_count', value.uint32(shape.layers)],
    ['llama.feed_forward_length', value.uint32(shape.feedForward)],
    ['llama.attention.head_count', value.uint32(shape.heads)],
    ['llama.attention.head_count_kv', value.uint32(shape.kvHeads)],
    ['llama.attention.layer_norm_rms_epsilon', value.float32(1e-5)],
    ['llama.rope.dimension_count', value.uint32(shape.width / shape.heads)],
    ['llama.vocab_size', value.uint32(shape.vocab)],
    ['tokenizer.ggml.model', value.string('llama')],
    ['tokenizer.ggml.tokens', value.array('string', tokens)],
    ['tokenizer.ggml.scores', value.array('float32', scores)],
    ['tokenizer.ggml.token_type', value.array('int32', kinds)],
    ['tokenizer.ggml.unknown_token_id', value.uint32(unknown)],
    ['tokenizer.ggml.bos_token_id', value.uint32(begin)],
    ['tokenizer.ggml.eos_token_id', value.uint32(end)],
    ['tokenizer.ggml.add_bos_token', value.bool(true)],
    ['tokenizer.ggml.add_space_prefix', value.bool(false)],
    ['tokenizer.chat_template', value.string(TEMPLATE)],
  ];
}

/**
 * In the order of the file. `fill`: the standard deviation of random values, or `ones`. `zeros`:
 * values of 0 in front of the others; the tokens that are no text (control tokens and bytes, which
 * come first) get no weights in the output, so that they are hardly drawn.
 */
export function tensorsOf({ layers, width, heads, kvHeads, feedForward, vocab }) {
  const kvWidth = (width / heads) * kvHeads;
  const matrix = (name, from, to) => ({
    name: `${name}.weight`,
    type: 'f16',
    shape: [from, to],
    fill: 1 / Math.sqrt(from),
  });
  const norm = (name) => ({ name: `${name}.weight`, type: 'f32', shape: [width], fill: 'ones' });
  const block = (i) => [
    norm(`blk.${i}.attn_norm`),
    matrix(`blk.${i}.attn_q`, width, width),
    matrix(`blk.${i}.attn_k`, width, kvWidth),
    matrix(`blk.${i}.attn_v`, width, kvWidth),
    matrix(`blk.${i}.attn_output`, width, width),
    norm(`blk.${i}.ffn_norm`),
    matrix(`blk.${i}.ffn_gate`, width, feedForward),
    matrix(`blk.${i}.ffn_up`, width, feedForward),
    matrix(`blk.${i}.ffn_down`, feedForward, width),
  ];
  return [
    { ...matrix('token_embd', width, vocab), fill: 1 },
    ...Array.from({ length: layers }, (_none, i) => block(i)).flat(),
    norm('output_norm'),
    {
      ...matrix('output', width, vocab),
      fill: 2 / Math.sqrt(width),
      zeros: width * TOKENS_WITHOUT_TEXT,
    },
  ];
}
