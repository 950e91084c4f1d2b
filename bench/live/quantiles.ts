import { quantile } from '@baton/kernel';

export interface ExactQuantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  readonly samples: number;
}

/** Exact, by sorting. */
export function quantiles(values: readonly number[]): ExactQuantiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => quantile(sorted, share);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1), samples: sorted.length };
}
