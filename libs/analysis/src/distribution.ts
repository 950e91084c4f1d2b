import type { Micros } from '@baton/kernel';
import { meanOf, type Ordered, quantilesOf } from './ordered';
import { roundTo } from './round-to';

/**
 * Mean, percentiles and maximum of a latency in ms, to the microsecond. All are null without
 * measurements.
 */
export interface Distribution {
  readonly mean: number | null;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

const SHARES = [0.5, 0.9, 0.95, 0.99, 1] as const;
const US_PER_MS = 1_000;

/**
 * The distribution of lengths. Percentiles are interpolated as numpy does by default, and so vLLM's
 * benchmark. Of counted lengths, mean and maximum are exact and percentiles at most 0.4 % off above
 * 256 µs.
 */
export function distributionOf(lengths: Ordered): Distribution {
  const [p50, p90, p95, p99, max] = quantilesOf(lengths, SHARES).map(milliseconds);
  return {
    mean: milliseconds(meanOf(lengths)),
    p50: p50 ?? null,
    p90: p90 ?? null,
    p95: p95 ?? null,
    p99: p99 ?? null,
    max: max ?? null,
  };
}

function milliseconds(us: Micros): number | null {
  return roundTo(us / US_PER_MS, 3);
}
