import { RandomStream } from '@baton/kernel';
import { noiseAt, type StepNoise } from '@baton/step-time';

/**
 * How the steps of one engine scatter: a factor per step, drawn from a stream of the engine's own,
 * so that equal seeds and names give equal factors, step by step.
 */
export class StepScatter {
  private readonly stream: RandomStream;

  constructor(
    private readonly noise: StepNoise,
    seed: number,
    engine: string,
  ) {
    this.stream = RandomStream.root(seed).stream('step-noise').stream(engine);
  }

  /** One draw per step, whatever the step computes. */
  next(computesPrompts: boolean): number {
    const unit = this.stream.unit();
    const quantiles = computesPrompts ? this.noise.prefill : this.noise.decode;
    return quantiles === undefined ? 1 : noiseAt(quantiles, unit);
  }
}
