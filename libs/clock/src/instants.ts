import { performance } from 'node:perf_hooks';

/**
 * An instant of this process on the wall clock, µs since the Unix epoch, rounded.
 *
 * @param processMs  ms of `performance.now()`; now, when left out
 */
export function wallUsOf(processMs = performance.now()): number {
  return Math.round((performance.timeOrigin + processMs) * 1_000);
}

/** An instant of the wall clock, µs since the Unix epoch, as ms of `performance.now()`. */
export function processMsOf(wallUs: number): number {
  return wallUs / 1_000 - performance.timeOrigin;
}
