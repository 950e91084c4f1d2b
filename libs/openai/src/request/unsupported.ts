import { isObject } from '@baton/kernel';
import { type RequestError, valueError } from '../refusal/request-error';

type Body = Readonly<Record<string, unknown>>;
/** Whether a value, neither absent nor null, changes the answer. */
type IsUsed = (value: unknown) => boolean;

const isSet: IsUsed = () => true;
const isTrue: IsUsed = (value) => value !== false;
const isFilled: IsUsed = (value) =>
  !(Array.isArray(value) && value.length === 0) && !isEmptyObject(value);
const wantsAudio: IsUsed = (value) => Array.isArray(value) && value.some((kind) => kind !== 'text');

/**
 * Fields that would change the answer and that Baton does not support; without a refusal the answer
 * would silently be wrong. Each is refused by name while it is used. The neutral values that SDKs
 * send (null, [], `{type: "text"}`) pass. Remove an entry when its feature arrives.
 */
const UNSUPPORTED: readonly (readonly [field: string, isUsed: IsUsed])[] = Object.entries({
  logprob_token_ids: isFilled,
  prompt_embeds: isSet,
  use_beam_search: isTrue,
  modalities: wantsAudio,
  audio: isSet,
  web_search_options: isSet,
  repetition_detection: isSet,
  return_token_offsets: isTrue,
  return_assistant_tokens_mask: isTrue,
  ec_transfer_params: isSet,
});

/** Throws for the first unsupported field in use. */
export function refuseUnsupported(body: Body): void {
  for (const [field, isUsed] of UNSUPPORTED) {
    const value = body[field] ?? null;
    if (value !== null && isUsed(value)) throw unsupported(field);
  }
}

/**
 * vLLM has its own message for `suffix`, and OpenAI supports it for one model only. An empty suffix
 * has no effect.
 */
export function refuseSuffix(body: Body): void {
  if ((body['suffix'] ?? '') !== '') {
    throw valueError({ field: 'suffix', message: 'suffix is not currently supported' });
  }
}

/** vLLM's refusal without `--trust-request-chat-template`, since a template is a program. */
export function refuseTemplate(body: Body): void {
  if ((body['chat_template'] ?? null) === null) return;
  const message =
    'Chat template is passed with request, but --trust-request-chat-template is not set. ' +
    'Refused request with untrusted chat template.';
  throw valueError({ field: 'chat_template', message });
}

/** @param what name of the field with its surroundings, where `field` alone is unclear */
export function unsupported(field: string, what = field): RequestError {
  return valueError({ field, message: `${what} is not currently supported`, named: true });
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
