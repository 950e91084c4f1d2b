import { roundTo } from '../round-to';

/** Share of the true values that an interval is designed to contain; docs/error-bars.md. */
export const INTERVAL_LEVEL = 0.8;

/** Lower and upper end around a figure, in its unit. */
export type Interval = readonly [low: number, high: number];

/**
 * Measured values relative to a computed value of 1: 80 % lie from `low` (0 < low <= 1) to `high`
 * (>= 1).
 */
export interface ErrorFactors {
  readonly low: number;
  readonly high: number;
}

/** The factors of step times without error. */
export const NO_ERROR: ErrorFactors = { low: 1, high: 1 };

/**
 * The interval of a figure from two independent sources of error: the sample, given as an interval,
 * and the model, given as factors. Distances from the figure are added as squares, on a logarithmic
 * scale.
 */
export function widened(figure: number, [low, high]: Interval, by: ErrorFactors): Interval {
  if (!(figure > 0)) return [Math.min(figure, low), Math.max(figure, high)];
  const below = Math.hypot(Math.log(figure / Math.max(0, low)), Math.log(by.low));
  const above = Math.hypot(Math.log(Math.max(figure, high) / figure), Math.log(by.high));
  return [figure * Math.exp(-below), figure * Math.exp(above)];
}

/** Like `widened`, for shares: distances are added on a linear scale. */
export function widenedShare(figure: number, one: Interval, other: Interval): Interval {
  const below = Math.hypot(figure - Math.min(figure, one[0]), figure - Math.min(figure, other[0]));
  const above = Math.hypot(Math.max(figure, one[1]) - figure, Math.max(figure, other[1]) - figure);
  return [Math.max(0, figure - below), Math.min(1, figure + above)];
}

export function scaled([low, high]: Interval, factor: number): Interval {
  return [low * factor, high * factor];
}

/** Null where an end is not a finite number. */
export function roundedInterval([low, high]: Interval, decimals: number): Interval | null {
  const ends = [roundTo(low, decimals), roundTo(high, decimals)] as const;
  return ends[0] === null || ends[1] === null ? null : [ends[0], ends[1]];
}
