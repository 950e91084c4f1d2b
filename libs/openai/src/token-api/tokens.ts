import {
  asciiJson,
  CHATML,
  type ChatTemplate,
  type Marker,
  rawIds,
  rawObject,
  type Tokenizer,
} from '@baton/text';
import { chatPromptIds, hasMessages } from '../request/chat-prompt';
import { checkedBody } from '../body/checked-body';
import { servedModel } from '../request/parse-body';
import { valueError } from '../refusal/request-error';
import type { RequestLimits } from '../limits';
import { DetokenizeRequest, TokenizeRequest } from './tokens.dto';

/** Most tokens of one text, so that it does not delay other requests. */
const MAX_TOKENS = 2 ** 20;

/**
 * The answer of POST /tokenize: a text as it is, or a conversation as chat completions compute it.
 * The tokenizer adds no special tokens, so `add_special_tokens` has no effect. Throws `BatonError`.
 */
export function tokenizeBody(body: unknown, limits: RequestLimits): string {
  const dto = checkedBody(TokenizeRequest, body, limits);
  const { tokenizer, maxModelLen } = limits;
  const ids = hasMessages(dto)
    ? chatPromptIds({ ...dto }, limits, true)
    : tokenizer.encode(dto.prompt, MAX_TOKENS);
  if (ids.length > MAX_TOKENS) {
    const message = `A text of more than ${MAX_TOKENS} tokens is not tokenized.`;
    throw valueError({ field: hasMessages(dto) ? 'messages' : 'prompt', message });
  }
  servedModel(dto.model, limits);
  return rawObject({
    count: String(ids.length),
    max_model_len: String(maxModelLen),
    tokens: rawIds(ids),
    token_strs: dto.return_token_strs === true ? asciiJson(namesOf(ids, tokenizer)) : 'null',
  });
}

function namesOf(ids: ArrayLike<number>, tokenizer: Tokenizer): string[] {
  return Array.from(ids, (id) => tokenizer.tokenText(id));
}

/** The answer of POST /detokenize. Throws `BatonError` for ids outside the vocabulary. */
export function detokenizeBody(body: unknown, limits: RequestLimits): string {
  const dto = checkedBody(DetokenizeRequest, body, limits);
  servedModel(dto.model, limits);
  const { tokenizer } = limits;
  const foreign = dto.tokens.find((id) => !tokenizer.hasToken(id));
  if (foreign !== undefined) {
    throw valueError({ field: 'tokens', message: `Token id ${foreign} is out of vocabulary` });
  }
  return asciiJson({ prompt: tokenizer.decode(dto.tokens) });
}

/** The answer of GET /tokenizer_info, with which a client can build the same tokenizer. */
export function tokenizerInfoBody(limits: RequestLimits): string {
  const { tokenizer, maxModelLen, template = CHATML } = limits;
  return asciiJson({
    tokenizer_class: tokenizer.name,
    vocab_size: tokenizer.vocabSize,
    model_max_length: maxModelLen,
    bos_token: template.begin ?? null,
    eos_token: template.end,
    pad_token: tokenizer.decode([tokenizer.special.endOfText]),
    additional_special_tokens: markersOf(template),
    chat_template:
      template.jinja?.source ?? (template.name === CHATML.name ? CHATML_IN_JINJA : null),
  });
}

/** The markers that the template writes around plain messages. */
function markersOf(template: ChatTemplate): Marker[] {
  const roles = ['system', 'user', 'assistant'].map((role) => ({ role, content: '' }));
  const markup = roles.flatMap((turn) => [...template.openTurn(turn), ...template.closeTurn(turn)]);
  const written = markup.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.marker]));
  return [...new Set(written)];
}

/** The part of the template for plain messages. */
const CHATML_IN_JINJA =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + " +
  "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
