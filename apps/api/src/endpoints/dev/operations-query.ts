import { BatonError } from '@baton/contract';

/**
 * The effect of a pause on requests under way: they end, the pause waits for them, or they wait.
 */
export type PauseMode = 'abort' | 'wait' | 'keep';

export interface SleepOrder {
  readonly level: 0 | 1 | 2;
  readonly mode: PauseMode;
}

export interface ForgetOrder {
  /** True when the host memory is cleared as well. */
  readonly forgetsHost: boolean;
}

export type Query = Readonly<Record<string, string | string[] | undefined>>;

const TRUE = new Set(['1', 'true', 'yes', 'on']);
const FALSE = new Set(['0', 'false', 'no', 'off', '']);
const MODES: readonly string[] = ['abort', 'wait', 'keep'];
const LEVELS = ['0', '1', '2'];
export const SLEEP_TAGS = ['weights', 'kv_cache'] as const;
export type SleepTag = (typeof SLEEP_TAGS)[number];

export function modeOf({ mode = 'abort' }: Query): PauseMode {
  if (typeof mode === 'string' && MODES.includes(mode)) return mode as PauseMode;
  throw badQuery('mode', "'abort', 'wait' or 'keep'");
}

/**
 * On real engines the sleep levels differ in what is unloaded. Here every level discards the KV
 * cache, and only the gauge of the sleep state shows the level.
 */
function levelOf({ level = '1' }: Query): 0 | 1 | 2 {
  if (typeof level !== 'string' || !LEVELS.includes(level)) throw badQuery('level', '0, 1 or 2');
  return Number(level) as 0 | 1 | 2;
}

/** @throws BatonError `invalid_type` */
export function sleepOrderOf(query: Query): SleepOrder {
  const level = levelOf(query);
  return { level, mode: modeOf(query) };
}

/** The parts to wake; without `tags` all parts. */
export function tagsOf({ tags }: Query): readonly SleepTag[] {
  if (tags === undefined) return SLEEP_TAGS;
  return [tags].flat().map((tag) => {
    const known = SLEEP_TAGS.find((one) => one === tag);
    if (known === undefined) throw badQuery('tags', "'weights' or 'kv_cache'");
    return known;
  });
}

function queryFlag(query: Query, name: string): boolean {
  const value = query[name] ?? '';
  const word = typeof value === 'string' ? value.toLowerCase() : undefined;
  if (word !== undefined && TRUE.has(word)) return true;
  if (word !== undefined && FALSE.has(word)) return false;
  throw badQuery(name, 'a boolean');
}

/** @throws BatonError `invalid_type`, `invalid_value` */
export function forgetOrderOf(query: Query): ForgetOrder {
  if (queryFlag(query, 'reset_running_requests')) {
    const message = 'reset_running_requests is not supported: abort or pause them first.';
    throw new BatonError('invalid_value', message, 'reset_running_requests');
  }
  return { forgetsHost: queryFlag(query, 'reset_external') };
}

function badQuery(name: string, expected: string): BatonError {
  return new BatonError('invalid_type', `${name} must be ${expected}.`, name);
}
