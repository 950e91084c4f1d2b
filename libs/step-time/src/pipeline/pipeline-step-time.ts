import type {
  BatchAggregates,
  PipelineTimes,
  StepTimeMethod,
  StepTimeModel,
} from '../port/step-time-model';
import type { OutsideRange } from '../port/valid-range';
import type { StageHop } from './hop';

/**
 * Step times of an engine that is cut into pipeline stages, from those of its stages and of the
 * hops between them. A single step takes all of them one after the other. There is no decode law:
 * steps of several batches overlap, so the engine times each by itself.
 */
export class PipelineStepTime implements StepTimeModel, PipelineTimes {
  readonly method?: StepTimeMethod;
  readonly overheadMs?: number;
  readonly pipeline: PipelineTimes = this;
  private readonly scratch: Float64Array;

  /** @param hops  one fewer than stages */
  constructor(
    readonly description: string,
    private readonly models: readonly StepTimeModel[],
    private readonly hops: readonly StageHop[],
  ) {
    const { method, overheadMs } = models[0]!;
    if (method !== undefined) this.method = method;
    if (overheadMs !== undefined) this.overheadMs = overheadMs * models.length;
    this.scratch = new Float64Array(2 * models.length - 1);
  }

  get stages(): number {
    return this.models.length;
  }

  stepUs(batch: BatchAggregates): number {
    this.fill(batch, this.scratch);
    return this.scratch.reduce((sum, us) => sum + us, 0);
  }

  fill(batch: BatchAggregates, us: Float64Array): void {
    const tokens = batch.prefillTokens + batch.decodeSeqs + (batch.draftTokens ?? 0);
    for (let stage = 0; stage < this.models.length; stage++) {
      us[2 * stage] = this.models[stage]!.stepUs(batch);
      const hop = this.hops[stage];
      if (hop !== undefined) us[2 * stage + 1] = hop.fixedUs + hop.usPerToken * tokens;
    }
  }

  outsideRange(batch: BatchAggregates): OutsideRange | undefined {
    for (const model of this.models) {
      const outside = model.outsideRange?.(batch);
      if (outside !== undefined) return outside;
    }
    return undefined;
  }

  contextLimit(decodeSeqs: number): number {
    return this.models.reduce(
      (least, model) => Math.min(least, model.contextLimit?.(decodeSeqs) ?? Infinity),
      Infinity,
    );
  }
}
