import { type Interval, standardErrors } from '@baton/analysis';
import { mean } from '@baton/kernel';
import type { Piece } from '@baton/workload';
import { TOLERANCE } from './plan-task';

/**
 * A trace is one sample of its hours. A finalist is therefore searched again in each of this many
 * consecutive windows with equally many conversations.
 */
export const WINDOWS = 8;
/** A window with fewer conversations says nothing about a rate. */
const FEWEST_PER_WINDOW = 25;

/** The windows of a workload with that many conversations; none of a workload that is too short. */
export function windowsOf(conversations: number): Piece[] {
  if (conversations < WINDOWS * FEWEST_PER_WINDOW) return [];
  return Array.from({ length: WINDOWS }, (_none, at) => ({ kind: 'window', at, of: WINDOWS }));
}

/** Two designs, window by window. */
export interface PairedComparison {
  readonly windows: number;
  /** Windows in which the first one has more goodput, by more than the tolerance of the search. */
  readonly wins: number;
  /** Windows in which it has less. */
  readonly losses: number;
  /** Whether it is better in most windows, and on average by more than chance explains. */
  readonly isBetter: boolean;
}

/** A window in which one design keeps no rate counts as such a ratio. */
const LARGEST_RATIO = 10;

/**
 * Pairs the windows of two designs. The test is Student's paired one, on the logarithms of the
 * ratios; with two equally good designs it calls the first one better once in ten times.
 *
 * @param one, other goodput in each window, requests per second
 */
export function compareWindows(one: readonly number[], other: readonly number[]): PairedComparison {
  const limit = Math.log(LARGEST_RATIO);
  const logs = one.map((goodput, at) => {
    if (goodput === other[at]) return 0;
    return Math.min(limit, Math.max(-limit, Math.log(goodput / other[at]!)));
  });
  const apart = Math.log(1 + TOLERANCE);
  const wins = logs.filter((log) => log > apart).length;
  const losses = logs.filter((log) => log < -apart).length;
  const error = (standardErrors(logs.length) * spreadOf(logs)) / Math.sqrt(logs.length);
  const isBetter = wins > logs.length / 2 && mean(logs) > error;
  return { windows: one.length, wins, losses, isBetter };
}

/** Standard deviation of a sample of at least two. */
function spreadOf(values: readonly number[]): number {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

/**
 * The 80 % interval of the goodput in another window of the same length: a prediction interval of
 * the logarithms (Student's t). 0 at the low end when a window has no goodput.
 */
export function windowInterval(goodputs: readonly number[]): Interval | undefined {
  const kept = goodputs.filter((goodput) => goodput > 0);
  if (kept.length < 2) return undefined;
  const logs = kept.map(Math.log);
  const spread = spreadOf(logs) * Math.sqrt(1 + 1 / kept.length);
  const half = standardErrors(kept.length) * spread;
  const middle = mean(logs);
  return [kept.length < goodputs.length ? 0 : Math.exp(middle - half), Math.exp(middle + half)];
}
