import type { RandomStream } from '@baton/kernel';
import { RandomSchema } from '../../../libs/text/test/random-schema';

type Fields = Record<string, unknown>;

/** Valid requests of each endpoint: a random body replaces parts of one. */
export const RIGHT: Readonly<Record<string, Fields>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 8 },
  '/v1/chat/completions/batch': {
    messages: [[{ role: 'user', content: 'Hi' }], [{ role: 'user', content: 'You' }]],
    max_tokens: 8,
  },
  '/v1/chat/completions/render': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/completions/render': { prompt: 'Hi' },
  '/v1/chat/completions/derender': { generate_response: { choices: [{ token_ids: [1, 2] }] } },
  '/v1/completions/derender': { generate_responses: [{ choices: [{ token_ids: [1, 2] }] }] },
  '/v1/completions': { prompt: 'Hi', max_tokens: 8 },
  '/v1/responses': { input: 'Hi', max_output_tokens: 16 },
  '/v1/responses/input_tokens': { input: 'Hi' },
  '/v1/responses/compact': { input: 'Hi', model: 'llama-3.1-8b' },
  '/v1/conversations': { items: [{ role: 'user', content: 'Hi' }] },
  '/v1/messages': { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 8 },
  '/v1/messages/count_tokens': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/embeddings': { input: 'Hi' },
  '/pooling': { input: 'Hi' },
  '/classify': { input: 'Hi' },
  '/score': { queries: 'a', documents: ['b'] },
  '/rerank': { query: 'a', documents: ['b', 'c'] },
  '/tokenize': { prompt: 'Hi' },
  '/detokenize': { tokens: [1, 2] },
  '/inference/v1/generate': { token_ids: [1], sampling_params: { max_tokens: 8 } },
  '/generate': { text: 'Hi', sampling_params: { max_new_tokens: 8 } },
  '/v1/load_lora_adapter': { lora_name: 'a', lora_path: '/tmp/a' },
  '/v1/unload_lora_adapter': { lora_name: 'a' },
};

const FIELDS = [
  ...[
    'model',
    'messages',
    'prompt',
    'input',
    'max_tokens',
    'max_completion_tokens',
    'n',
    'best_of',
  ],
  ...['stop', 'stop_token_ids', 'logprobs', 'top_logprobs', 'prompt_logprobs', 'logit_bias'],
  ...['bad_words', 'allowed_token_ids', 'response_format', 'structured_outputs', 'tools', 'text'],
  ...['tool_choice', 'parallel_tool_calls', 'functions', 'function_call', 'reasoning_effort'],
  ...['stream', 'stream_options', 'seed', 'echo', 'temperature', 'top_p', 'top_k', 'min_p'],
  ...['min_tokens', 'truncate_prompt_tokens', 'truncation_side', 'chat_template_kwargs'],
  ...['documents', 'service_tier', 'suffix', 'kv_transfer_params', 'user', 'cache_salt'],
  ...['continue_final_message', 'add_generation_prompt', 'return_token_ids', 'include_reasoning'],
  ...['thinking_token_budget', 'thinking', 'system', 'stop_sequences', 'output_config', 'metadata'],
  ...['instructions', 'previous_response_id', 'conversation', 'store', 'background', 'include'],
  ...['reasoning', 'max_output_tokens', 'truncation', 'max_tool_calls', 'items', 'priority'],
  ...['encoding_format', 'dimensions', 'embed_dtype', 'queries', 'query', 'text_1', 'text_2'],
  ...['data_1', 'data_2', 'top_n', 'tokens', 'token_ids', 'sampling_params', 'return_token_strs'],
  ...['request_id', 'cache_hit_threshold', 'lora_name', 'lora_path', 'modalities', 'audio'],
  ...['input_ids', 'rid', 'return_logprob', 'top_logprobs_num', 'bootstrap_room'],
  'disaggregated_params',
];
const KEYS = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'type', 'role', 'content', 'text'],
  ...[
    'function',
    'name',
    'parameters',
    'schema',
    'json_schema',
    'id',
    'call_id',
    'output',
    'source',
  ],
  ...['arguments', 'regex', 'json', 'grammar', 'choice', 'format', 'effort', 'budget_tokens', '0'],
];
const NUMBERS = [0, -0, 1, -1, 2, 5, 1.5, 1e-320, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, -1e308, 3e9];
const PATTERNS = [
  ...['(a+)+$', '((a?){9}){99}', '^(.*)*(.*)*$', '(', '\\p{L}{99}', '(?=a)(?!b)c*', '[^]'],
  ...[
    '(x+x+)+y',
    'a{1000000}',
    '(a|aa)+$',
    '(?<n>a)\\k<n>',
    '[\\s\\S]{5000}',
    '(((((a*)*)*)*)*)*b',
  ],
];
const TEXTS = [
  ...['', 'a', 'user', 'assistant', 'system', 'tool', 'text', 'json_schema', 'required', 'auto'],
  ...['\ud800', '\u0000', 'é😀', '{', 'root ::= root', 'root ::= "a" root | "b"', 'x'.repeat(3000)],
  ...['function', 'message', 'function_call_output', 'input_text', 'image_url', 'float', 'base64'],
  ...['resp_x', 'conv_x', 'length', 'https://example.com/x.png', 'data:image/png;base64,AAAA'],
];

/** Bodies that are valid in parts and invalid in others. */
export class RandomBody {
  constructor(
    private readonly random: RandomStream,
    private readonly path: string,
  ) {}

  /** As bytes, occasionally with invalid JSON or invalid UTF-8. */
  bytes(): Buffer {
    const bytes = Buffer.from(this.json());
    if (this.chance(0.9)) return bytes;
    const at = this.random.integer(bytes.length + 1);
    if (this.chance(0.3)) return bytes.subarray(0, at);
    const broken = Buffer.from([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0x00]][this.below(4)]!);
    return Buffer.concat([bytes.subarray(0, at), broken, bytes.subarray(at)]);
  }

  private json(): string {
    if (this.chance(0.03)) return JSON.stringify(this.value(3)) ?? 'null';
    if (this.chance(0.01)) return '['.repeat(50_000);
    const fields: [string, unknown][] = this.chance(0.9)
      ? Object.entries(RIGHT[this.path] ?? {})
      : [];
    for (let i = this.below(4); i > 0; i--) fields.push([this.field(), this.value(4)]);
    if (this.chance(0.15)) fields.push(this.constraint());
    if (this.chance(0.1)) fields.push(['stream', true]);
    // Written by hand, so that `__proto__` is a regular key and a key may occur twice.
    return `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${jsonOf(value)}`).join()}}`;
  }

  private field(): string {
    const own = Object.keys(RIGHT[this.path] ?? {});
    return this.chance(0.4) && own.length > 0 ? this.pick(own) : this.pick([...FIELDS, ...KEYS]);
  }

  /** A field that constrains the form of the answer. */
  private constraint(): [string, unknown] {
    const schema = this.chance(0.5) ? { pattern: this.pick(PATTERNS) } : this.schema();
    const format = { type: 'json_schema', name: 's', schema, json_schema: { name: 's', schema } };
    const called = { name: 'f', parameters: schema };
    switch (this.below(6)) {
      case 0:
        return ['response_format', format];
      case 1:
        return ['structured_outputs', { json: schema }];
      case 2:
        return ['structured_outputs', { regex: this.pick(PATTERNS) }];
      case 3:
        return ['text', { format }];
      case 4:
        return ['output_config', { format }];
      default:
        return ['tools', [{ type: 'function', function: called, ...called, input_schema: schema }]];
    }
  }

  private schema(): unknown {
    const schemas = RandomSchema.of(this.random.integer(1e9));
    return this.chance(0.5) ? schemas.any() : schemas.possible();
  }

  private value(depth: number): unknown {
    const kind = this.below(depth > 0 ? 10 : 6);
    if (kind === 0) return this.pick(NUMBERS);
    if (kind === 1 || kind === 2) return this.pick(TEXTS);
    if (kind === 3) return this.chance(0.5);
    if (kind === 4) return this.chance(0.5) ? null : this.pick(PATTERNS);
    if (kind === 5) return Array.from({ length: this.below(4) }, () => this.below(300_000));
    if (kind === 6) return Array.from({ length: this.below(4) }, () => this.value(depth - 1));
    if (kind === 7 && this.chance(0.1)) return nested(100 + this.below(1_000));
    const keys = Array.from({ length: this.below(4) }, () => this.pick([...KEYS, ...FIELDS]));
    const text = keys.map((key) => `${JSON.stringify(key)}:${jsonOf(this.value(depth - 1))}`);
    return JSON.parse(`{${text.join()}}`) as unknown;
  }

  private chance(probability: number): boolean {
    return this.random.unit() < probability;
  }

  private below(n: number): number {
    return this.random.integer(n);
  }

  private pick<Item>(items: readonly Item[]): Item {
    return items[this.random.integer(items.length)]!;
  }
}

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

function nested(depth: number): unknown {
  let value: unknown = {};
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { items: value };
  return value;
}
