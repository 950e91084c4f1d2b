import { missingField, RequestError, valueError } from '../refusal/request-error';
import { notAmong } from '../body/refusal';
import type { RequestLimits } from '../limits';
import type { SpokenMessage } from './open-turn';

/** OpenAI's roles, in the order of its message. */
const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer'];
/** Roles whose messages must have content. */
const SPEAKING = new Set(['system', 'developer', 'user', 'tool']);

/**
 * Refuses roles that OpenAI does not have, and messages without required content. vLLM and the vllm
 * dialect leave both to the model's template.
 */
export function checkMessages(
  messages: readonly SpokenMessage[],
  { dialect }: RequestLimits,
): void {
  if (dialect !== 'openai') return;
  for (const [index, { role, content }] of messages.entries()) {
    const place = `messages[${index}]`;
    if (!ROLES.includes(role)) throw wrongRole(role, `${place}.role`);
    if (!SPEAKING.has(role)) continue;
    if (content === undefined) throw missingField(`${place}.content`);
    if (content === null) throw noContent(`${place}.content`);
  }
}

function wrongRole(role: string, field: string): RequestError {
  return valueError({ field, message: notAmong(role, ROLES) });
}

function noContent(field: string): RequestError {
  const expected = 'one of a string or array of objects';
  const message = `Invalid type for '${field}': expected ${expected}, but got null instead.`;
  return new RequestError('invalid_type', { message, param: field, code: 'invalid_type' });
}
