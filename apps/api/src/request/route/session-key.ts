import { fieldsIn, hashString } from '@baton/kernel';
import type { Call } from '../take/call';

/**
 * Sources of the key, from the most to the least specific: a session, a group with common prompts,
 * a user.
 */
const SOURCES = [
  { header: 'x-session-id', field: 'session_id' },
  { header: undefined, field: 'prompt_cache_key' },
  { header: 'x-user', field: 'user' },
] as const;

/** The client's field that groups requests, as a hash; undefined without one. */
export function sessionKeyOf({
  body,
  response,
}: Pick<Call, 'body' | 'response'>): number | undefined {
  const fields = fieldsIn(body);
  for (const { header, field } of SOURCES) {
    const said = (header && response.req.headers[header]) || fields[field];
    if (typeof said === 'string' && said !== '') return hashString(said) || 1;
  }
  return undefined;
}
