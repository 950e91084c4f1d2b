import { type RequestError, valueError } from '../errors/request-error';
import { isObject } from './shapes';

type Body = Readonly<Record<string, unknown>>;
type IsUsed = (value: unknown, body: Body) => boolean;

const isSet: IsUsed = (value) => value !== undefined && value !== null;
const isTrue: IsUsed = (value) => isSet(value, {}) && value !== false;
const isFilled: IsUsed = (value) =>
  isSet(value, {}) && !(Array.isArray(value) && value.length === 0) && !isEmptyObject(value);
const isOtherThanText: IsUsed = (value) =>
  isSet(value, {}) && !(isObject(value) && value['type'] === 'text');
const isOtherThanNone: IsUsed = (value) => isSet(value, {}) && value !== 'none';
const wantsAudio: IsUsed = (value) => Array.isArray(value) && value.some((kind) => kind !== 'text');

/**
 * Fields that would change the answer and that Baton does not act on: to ignore them would be to answer another question. Each is
 * refused by name while it is used; the neutral values that SDKs send by themselves (null, [], `{type: "text"}`) pass. An entry
 * leaves this table when its feature arrives.
 */
const UNSUPPORTED: Readonly<Record<string, IsUsed>> = {
  tools: isSet,
  tool_choice: isOtherThanNone,
  functions: isFilled,
  function_call: isOtherThanNone,
  response_format: isOtherThanText,
  structured_outputs: isSet,
  logit_bias: isFilled,
  bad_words: isFilled,
  allowed_token_ids: isSet,
  logprob_token_ids: isFilled,
  prompt_embeds: isSet,
  use_beam_search: isTrue,
  modalities: wantsAudio,
  audio: isSet,
  web_search_options: isSet,
  documents: isFilled,
  chat_template: isSet,
  chat_template_kwargs: isFilled,
  continue_final_message: isTrue,
  truncate_prompt_tokens: isSet,
  thinking_token_budget: isSet,
  repetition_detection: isSet,
  return_token_offsets: isTrue,
  return_prompt_text: isTrue,
  return_assistant_tokens_mask: isTrue,
  ec_transfer_params: isSet,
};

/** Throws for the first field in use that is not supported. */
export function refuseUnsupported(body: Body): void {
  for (const [field, isUsed] of Object.entries(UNSUPPORTED)) {
    if (isUsed(body[field], body)) throw unsupported(field);
  }
}

/** vLLM words `suffix` by itself, and OpenAI has it for one model only. */
export function refuseSuffix(body: Body): void {
  if (isSet(body['suffix'], body)) {
    throw valueError({ field: 'suffix', message: 'suffix is not currently supported' });
  }
}

/** @param what names the field within its surroundings, where `field` alone does not say enough */
export function unsupported(field: string, what = field): RequestError {
  return valueError({ field, message: `${what} is not currently supported`, named: true });
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
