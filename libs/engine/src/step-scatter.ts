import { RandomStream } from '@baton/kernel';
import { noiseAt, type StepNoise } from '@baton/step-time';

/**
 * The scatter of one engine's steps: a factor per step from the engine's own random stream, so that
 * equal seeds and names give equal factors, step by step.
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

  /** Draws once per step, whatever the step computes. */
  next(computesPrompts: boolean): number {
    const unit = this.stream.unit();
    const quantiles = computesPrompts ? this.noise.prefill : this.noise.decode;
    return quantiles === undefined ? 1 : noiseAt(quantiles, unit);
  }
}
