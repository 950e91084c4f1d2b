import type { Distribution } from '../distribution';
import {
  blockCount,
  inBlocks,
  ratioError,
  shareInterval,
  standardErrors,
  sumOf,
  wilson,
} from './blocks';
import type { Interval } from './interval';
import type { IntervalHistogram } from '../interval-histogram';
import type { LatenciesInOrder } from '../latencies';
import { countOf, type Ordered, quantilesOf } from '../ordered';

export type Statistic = keyof Distribution;

/** By statistic, in the unit of the values. */
export type StatisticIntervals = Readonly<Record<Statistic, Interval>>;

const QUANTILES = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p99', 0.99],
] as const satisfies readonly (readonly [Statistic, number])[];

/** The largest of n values lies below the quantile 0.1^(1/n) of them in one sample out of ten. */
const TAIL = 0.1;

/**
 * The range of another sample of the same load. Percentiles lie between two order statistics, the
 * mean within the spread of block means. The largest value of another sample has no upper bound in
 * this one: its upper end mirrors the lower one on a logarithmic scale.
 *
 * @param values  in the order of the requests, or every n-th of them
 * @param ascending  all of them
 */
export function sampledLatency(
  values: Float64Array,
  ascending: Ordered,
): StatisticIntervals | undefined {
  const count = values.length;
  if (count === 0) return undefined;
  const quantiles = QUANTILES.map(([name, share]) => {
    return [name, quantileInterval(values, ascending, share)] as const;
  });
  return {
    ...(Object.fromEntries(quantiles) as Record<(typeof QUANTILES)[number][0], Interval>),
    mean: meanInterval(values),
    max: largestInterval(countOf(ascending), (share) => quantileOf(ascending, share)),
  };
}

function quantileOf(ascending: Ordered, share: number): number {
  return quantilesOf(ascending, [share])[0]!;
}

function quantileInterval(values: Float64Array, ascending: Ordered, share: number): Interval {
  const at = quantileOf(ascending, share);
  const { parts: below, wholes } = inBlocks(values.length, (i) => (values[i]! <= at ? 1 : 0));
  const [low, high] = shareInterval(below, wholes);
  // The share of values at or below a quantile exceeds the quantile's share: ties, and the value
  // itself.
  const shift = share - sumOf(below) / values.length;
  const between = (wanted: number): number => Math.min(1, Math.max(0, wanted));
  return [
    Math.min(at, quantileOf(ascending, between(low + shift))),
    Math.max(at, quantileOf(ascending, between(high + shift))),
  ];
}

/**
 * The interval of the mean, from the means of blocks, but never narrower than for independent
 * values.
 */
export function meanInterval(values: Float64Array): Interval {
  const { parts, wholes } = inBlocks(values.length, (i) => values[i]!);
  const mean = sumOf(parts) / values.length;
  if (parts.length < 2) return [mean, mean];
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  const alone = Math.sqrt(squares / (values.length - 1) / values.length);
  const half = standardErrors(parts.length) * Math.max(alone, ratioError(parts, wholes));
  return [Math.max(0, mean - half), mean + half];
}

function largestInterval(count: number, at: (share: number) => number): Interval {
  const largest = at(1);
  const low = at(TAIL ** (1 / count));
  return [low, low > 0 ? largest ** 2 / low : largest];
}

/**
 * The range of gaps between tokens, which are only counted. Percentiles count each request as one
 * observation, because its gaps lie in the same steps. The mean is that of the requests' gaps.
 *
 * @param requests  their mean gaps in µs (TPOT) and the number of gaps of each
 */
export function sampledGaps(
  histogram: IntervalHistogram,
  { tpotUs, gaps }: Pick<LatenciesInOrder, 'tpotUs' | 'gaps'>,
): StatisticIntervals | undefined {
  const { count, meanUs, maxUs } = histogram;
  const requests = gaps.length;
  if (count === 0) return undefined;
  const errors = requests < 2 ? 0 : standardErrors(blockCount(requests));
  const quantiles = QUANTILES.map(([name, share]) => {
    const [low, high] = requests < 2 ? [share, share] : wilson(share, requests, errors);
    const [lowUs = NaN, us = NaN, highUs = NaN] = histogram.quantilesUs([low, share, high]);
    return [name, [Math.min(us, lowUs), Math.max(us, highUs)] as Interval] as const;
  });
  const half = errors * gapError(tpotUs, gaps);
  const low = histogram.quantileUs(TAIL ** (1 / Math.max(1, requests)));
  return {
    ...(Object.fromEntries(quantiles) as Record<(typeof QUANTILES)[number][0], Interval>),
    mean: [Math.max(0, meanUs - half), meanUs + half],
    max: [Math.min(low, maxUs), low > 0 ? Math.max(maxUs, maxUs ** 2 / low) : maxUs],
  };
}

function gapError(tpotUs: Float64Array, gaps: Float64Array): number {
  if (gaps.length < 2) return 0;
  const parts = inBlocks(gaps.length, (i) => tpotUs[i]! * gaps[i]!).parts;
  return ratioError(parts, inBlocks(gaps.length, (i) => gaps[i]!).parts);
}
