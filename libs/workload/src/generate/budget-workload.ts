import { drawArrivals } from '../arrivals';
import type { Workload } from '../workload';
import { workloadStream } from './draw-lengths';
import { generateSingleTurn } from './single-turn';

/**
 * Standard deviation of the logarithm of both lengths; the same as the default of
 * `output_length_sigma`.
 */
const SIGMA = 0.6;

export interface BudgetOptions {
  readonly ratePerSecond: number;
  /** Requests. Default: 1,000,000. */
  readonly count?: number;
  /** Default: 1. */
  readonly seed?: number;
}

/**
 * The workload that measures the speed of a replay: Poisson arrivals, prompts lognormal with mean
 * 1,024, outputs lognormal with mean 128, half of the prompt blocks shared from 1,000 equally
 * popular prefixes, blocks of 16 tokens.
 */
export function budgetWorkload(options: BudgetOptions): Workload {
  const { ratePerSecond, count = 1_000_000, seed = 1 } = options;
  const arrivalUs = drawArrivals(
    { kind: 'poisson', ratePerSecond },
    { count },
    workloadStream(seed, 'arrivals'),
  );
  return generateSingleTurn({
    arrivalUs,
    prompt: { kind: 'lognormal', mean: 1024, sigma: SIGMA },
    output: { kind: 'lognormal', mean: 128, sigma: SIGMA },
    shared: { prefixes: 1000, popularity: { kind: 'uniform' }, share: 0.5 },
    blockTokens: 16,
    seed,
  });
}
