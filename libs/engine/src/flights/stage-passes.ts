import type { Micros } from '@baton/kernel';
import type { BatchAggregates, PipelineTimes } from '@baton/step-time';

/** What a batch takes beside the times of its stages. */
export interface PassExtras {
  /** Factor of the times of stages. */
  readonly factor: number;
  /** Time for which KV is loaded before the first stage, µs. */
  readonly loadUs: number;
  /** Time of drafting behind the last stage, µs. */
  readonly draftUs: number;
}

/**
 * The way of batches through pipeline stages. A batch occupies one stage after the other, each as
 * soon as it has arrived and the batch before has left.
 */
export class StagePasses {
  /** The time at which each stage ends its last batch, µs with a fraction. */
  private readonly freeUs: Float64Array;
  /** Times of the batch that passes. */
  private readonly timesUs: Float64Array;

  constructor(private readonly pipeline: PipelineTimes) {
    this.freeUs = new Float64Array(pipeline.stages);
    this.timesUs = new Float64Array(2 * pipeline.stages - 1);
  }

  /**
   * Takes a batch, which is there from `fromUs` on, through the stages and returns when it leaves
   * the last one. Call it once for each batch, in their order.
   */
  endUs(fromUs: Micros, batch: BatchAggregates, { factor, loadUs, draftUs }: PassExtras): Micros {
    const { freeUs, timesUs } = this;
    this.pipeline.fill(batch, timesUs);
    const last = freeUs.length - 1;
    let atUs = fromUs;
    for (let stage = 0; stage <= last; stage++) {
      const besideUs = (stage === 0 ? loadUs : 0) + (stage === last ? draftUs : 0);
      const spanUs = Math.max(1, timesUs[2 * stage]! * factor + besideUs);
      atUs = freeUs[stage] = Math.max(atUs, freeUs[stage]!) + spanUs;
      if (stage < last) atUs += timesUs[2 * stage + 1]!;
    }
    return Math.round(atUs);
  }

  /** Keeps the last batch in the last stage until all ranks of the engine have theirs. */
  holdUntil(endUs: Micros): void {
    const last = this.freeUs.length - 1;
    this.freeUs[last] = Math.max(this.freeUs[last]!, endUs);
  }
}
