import { assert, type Micros } from '@baton/kernel';
import type { PipelineTimes } from '@baton/step-time';
import { type RunnerParts, warmupFactor } from './runner';

/**
 * The way of batches through pipeline stages. A batch occupies one stage after the other, each as
 * soon as it has arrived and the batch before has left.
 */
export class StagePasses {
  /** The time at which each stage ends its last batch, µs with a fraction. */
  private readonly freeUs: Float64Array;
  /** Times of the batch that passes. */
  private readonly timesUs: Float64Array;

  constructor(
    private readonly parts: RunnerParts,
    private readonly pipeline: PipelineTimes,
  ) {
    this.freeUs = new Float64Array(pipeline.stages);
    this.timesUs = new Float64Array(2 * pipeline.stages - 1);
  }

  /**
   * Takes the formed batch, which is there from `fromUs` on, through the stages and returns when it
   * leaves the last one.
   */
  endUs(fromUs: Micros): Micros {
    const { freeUs, timesUs, parts } = this;
    const batch = parts.former.batch.aggregates();
    this.pipeline.fill(batch, timesUs);
    const factor = warmupFactor(parts) * (parts.scatter?.next(batch.prefillTokens > 0) ?? 1);
    let atUs = fromUs;
    for (let stage = 0; stage < freeUs.length; stage++) {
      const spanUs = Math.max(1, timesUs[2 * stage]! * factor);
      atUs = freeUs[stage] = Math.max(atUs, freeUs[stage]!) + spanUs;
      if (stage + 1 < freeUs.length) atUs += timesUs[2 * stage + 1]!;
    }
    return Math.round(atUs);
  }
}

/** The stages of an engine whose options the runners of pipelines support. */
export function pipelineOf({ options }: RunnerParts): PipelineTimes {
  const { stepTime, speculation, hostTier } = options;
  assert(stepTime.pipeline !== undefined, 'the step times are not those of a pipeline');
  assert(speculation === undefined, 'a pipeline does not draft');
  assert(hostTier === undefined, 'a pipeline loads no KV from host memory');
  return stepTime.pipeline;
}
