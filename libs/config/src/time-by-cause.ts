import { parseDuration } from '@baton/kernel';
import type { DurationUnit } from './option';

/** The time of one cause, in the unit of the option. */
export type CauseTime = readonly [cause: string, time: number];

/**
 * The times of `image-pull=20s,weights=35`, in the order of `causes`. Undefined for another cause,
 * one twice, and no time.
 */
export function timesByCause(
  given: string,
  { causes = [], duration }: { causes?: readonly string[]; duration?: DurationUnit },
): readonly CauseTime[] | undefined {
  const times = new Map<string, number>();
  for (const part of given.split(',')) {
    const [cause = '', time = ''] = part.split('=').map((word) => word.trim());
    const length = /^(\d+\.?\d*|\.\d+)$/.test(time)
      ? Number(time)
      : parseDuration(time, duration ?? 's');
    if (!causes.includes(cause) || times.has(cause) || length === undefined) return undefined;
    times.set(cause, length);
  }
  return causes.flatMap((cause) => (times.has(cause) ? [[cause, times.get(cause)!] as const] : []));
}

export function sumOfTimes(times: readonly CauseTime[]): number {
  return times.reduce((sum, [, time]) => sum + time, 0);
}
