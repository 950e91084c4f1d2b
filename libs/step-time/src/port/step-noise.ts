import { quantile, RandomStream } from '@baton/kernel';
/**
 * The scatter of step durations around a model, by regime: steps that only decode, and steps that
 * also compute prompts. A regime is a list of factors, the quantiles of `NOISE_PROBABILITIES`,
 * whose mean is 1.
 */
export interface StepNoise {
  readonly decode?: readonly number[] | undefined;
  readonly prefill?: readonly number[] | undefined;
}

/** Dense towards the ends, because a p99 depends on the upper one. */
export const NOISE_PROBABILITIES = [
  ...[0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1],
] as const;

/** Fewest measurements of a spread. */
const FEWEST = 50;

/**
 * The factors of one regime from ratios of measured to expected durations. Their mean is scaled to
 * 1, so that noise moves no average. Undefined when there are too few.
 */
export function noiseFrom(ratios: readonly number[]): readonly number[] | undefined {
  if (ratios.length < FEWEST) return undefined;
  const sorted = [...ratios].sort((a, b) => a - b);
  const quantiles = NOISE_PROBABILITIES.map((p) => quantile(sorted, p));
  const mean = meanOf(quantiles);
  return quantiles.map((each) => each / mean);
}

/** The factor at a uniform draw from [0, 1): straight between two quantiles. */
export function noiseAt(quantiles: readonly number[], unit: number): number {
  let above = 1;
  while (above < quantiles.length - 1 && NOISE_PROBABILITIES[above]! < unit) above++;
  const [low, high] = [NOISE_PROBABILITIES[above - 1]!, NOISE_PROBABILITIES[above]!];
  const [from, to] = [quantiles[above - 1]!, quantiles[above]!];
  return from + ((to - from) * (unit - low)) / (high - low);
}

/** The mean of `noiseAt`. */
export function meanOf(quantiles: readonly number[]): number {
  let sum = 0;
  for (let i = 1; i < quantiles.length; i++) {
    const width = NOISE_PROBABILITIES[i]! - NOISE_PROBABILITIES[i - 1]!;
    sum += (width * (quantiles[i - 1]! + quantiles[i]!)) / 2;
  }
  return sum;
}

/** The scatter of an engine's steps: factors that are a function of seed, name and step. */
export class StepScatter {
  private readonly stream: RandomStream;

  constructor(
    private readonly noise: StepNoise,
    seed: number,
    engine: string,
  ) {
    this.stream = RandomStream.root(seed).stream('step-noise').stream(engine);
  }

  /** Draws once per step, whatever the step computes. */
  next(computesPrompts: boolean): number {
    const unit = this.stream.unit();
    const quantiles = computesPrompts ? this.noise.prefill : this.noise.decode;
    return quantiles === undefined ? 1 : noiseAt(quantiles, unit);
  }
}
