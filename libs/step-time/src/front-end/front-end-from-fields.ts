import { isObject } from '@baton/kernel';
import { DISPATCHES, type FrontEnd } from './front-end';

/** Invalid fields of a front end. The message is one sentence for the user. */
export class FrontEndError extends Error {
  override readonly name = 'FrontEndError';
}

/** Minimum and maximum of each number. A minute is more than any server takes. */
const RANGES = {
  request_ms: [0, 60_000],
  prompt_token_us: [0, 60_000],
  request_busy_ms: [0, 60_000],
  prompt_token_busy_us: [0, 60_000],
} as const;
const NAMES = [...Object.keys(RANGES), 'dispatch'];

/**
 * A user's own front end: `request_ms` (required), `prompt_token_us` (default 0), the busy parts of
 * both, `request_busy_ms` and `prompt_token_busy_us` (default 0), and `dispatch` (default serial).
 * It has one server per engine.
 *
 * @param where the user's value, for errors and as the name
 * @throws FrontEndError, with the name of the field
 */
export function frontEndFromFields(content: unknown, where: string): FrontEnd {
  if (!isObject(content)) throw unusable(where, 'it is not a map of fields');
  const unknown = Object.keys(content).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    throw unusable(where, `'${unknown}' is not one of its fields (${NAMES.join(', ')})`);
  }
  const optional = (name: keyof typeof RANGES) =>
    content[name] === undefined ? 0 : numberOf(content, name, where);
  const part = (busy: keyof typeof RANGES, whole: keyof typeof RANGES) => {
    if (optional(busy) <= optional(whole)) return optional(busy);
    throw unusable(where, `'${busy}' is part of '${whole}' and must not exceed it`);
  };
  return {
    name: where,
    requestUs: numberOf(content, 'request_ms', where) * 1_000,
    promptTokenUs: optional('prompt_token_us'),
    requestBusyUs: part('request_busy_ms', 'request_ms') * 1_000,
    promptTokenBusyUs: part('prompt_token_busy_us', 'prompt_token_us'),
    serversPerEngine: 1,
    dispatch: dispatchOf(content['dispatch'], where),
  };
}

function numberOf(
  content: Readonly<Record<string, unknown>>,
  name: keyof typeof RANGES,
  where: string,
): number {
  const value = content[name];
  const [least, greatest] = RANGES[name];
  if (typeof value === 'number' && value >= least && value <= greatest) return value;
  throw unusable(where, `'${name}' must be a number from ${least} to ${greatest}`);
}

function dispatchOf(given: unknown, where: string): FrontEnd['dispatch'] {
  if (given === undefined) return 'serial';
  const dispatch = DISPATCHES.find((each) => each === given);
  if (dispatch !== undefined) return dispatch;
  throw unusable(where, `'dispatch' must be one of ${DISPATCHES.join(', ')}`);
}

function unusable(where: string, why: string): FrontEndError {
  return new FrontEndError(`frontend ${where} cannot be used: ${why}.`);
}
