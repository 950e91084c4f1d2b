import { HardwareError } from '@baton/hardware';
import type {
  BatchAggregates,
  DecodeLaw,
  PipelineTimes,
  StepTimeMethod,
  StepTimeModel,
} from './step-time-model';
import { describeOutside, type OutsideRange } from './valid-range';

export interface RangeGuardOptions {
  /** Throw instead of extrapolating. */
  readonly refuse: boolean;
  /** Called once, when the first step lies outside. */
  readonly report: (outside: OutsideRange) => void;
}

/**
 * A model that never extrapolates silently: it counts steps outside of its range and reports the
 * first, or refuses them. Laws end at the end of the range, so that no leap passes the border
 * uncounted. Results are those of the model itself, to the last bit.
 */
export class RangeGuard implements StepTimeModel {
  readonly description: string;
  readonly method?: StepTimeMethod;
  readonly overheadMs?: number;
  readonly heldOut: StepTimeModel['heldOut'];
  readonly noise: StepTimeModel['noise'];
  readonly tokenJitterUs?: NonNullable<StepTimeModel['tokenJitterUs']>;
  readonly pipeline?: PipelineTimes;
  private outsideSteps = 0;
  private unmeasuredSteps = 0;
  private outermost: OutsideRange | undefined;
  private largestExcess = 0;
  private readonly bounded: (DecodeLaw | undefined)[] = [];

  constructor(
    readonly model: StepTimeModel,
    private readonly options: RangeGuardOptions,
  ) {
    this.description = model.description;
    if (model.method !== undefined) this.method = model.method;
    if (model.overheadMs !== undefined) this.overheadMs = model.overheadMs;
    this.heldOut = model.heldOut;
    this.noise = model.noise;
    if (model.tokenJitterUs) this.tokenJitterUs = model.tokenJitterUs.bind(model);
    if (model.pipeline !== undefined) this.pipeline = this.guardedPipeline(model.pipeline);
  }

  /** Another guard of the same model, with its own count. @param report default: the same */
  another(report = this.options.report): RangeGuard {
    return new RangeGuard(this.model, { ...this.options, report });
  }

  /** Whether a step outside of the range throws. */
  get isRefusing(): boolean {
    return this.options.refuse;
  }

  /** Steps so far outside of the range. */
  get stepsOutsideRange(): number {
    return this.outsideSteps;
  }

  /** Steps outside of the range whose shape was not measured at all: they have no distance. */
  get stepsOfUnmeasuredShape(): number {
    return this.unmeasuredSteps;
  }

  /** The farthest of the others as a multiple of the measured maximum; 1: none is above it. */
  get farthestOutside(): number {
    return Math.max(1, this.largestExcess);
  }

  /** The quantity that lay farthest outside; undefined: none did. */
  get farthest(): OutsideRange | undefined {
    return this.outermost;
  }

  /** @throws HardwareError `outside-range` when extrapolation is refused */
  stepUs(batch: BatchAggregates): number {
    this.check(batch);
    return this.model.stepUs(batch);
  }

  decodeLaw(decodeSeqs: number, decodeContext = 0): DecodeLaw | undefined {
    const law = this.model.decodeLaw?.(decodeSeqs, decodeContext);
    if (law === undefined) return undefined;
    const limit = this.contextLimit(decodeSeqs);
    if (limit >= law.contextLimit) return law;
    if (limit < decodeContext) return undefined;
    if (law.contextLimit !== Infinity) return { ...law, contextLimit: limit };
    return (this.bounded[decodeSeqs] ??= { ...law, contextLimit: limit });
  }

  outsideRange(batch: BatchAggregates): OutsideRange | undefined {
    return this.model.outsideRange?.(batch);
  }

  contextLimit(decodeSeqs: number): number {
    return this.model.contextLimit?.(decodeSeqs) ?? Infinity;
  }

  private guardedPipeline(pipeline: PipelineTimes): PipelineTimes {
    return {
      stages: pipeline.stages,
      fill: (batch, us) => {
        this.check(batch);
        pipeline.fill(batch, us);
      },
    };
  }

  private check(batch: BatchAggregates): void {
    const outside = this.model.outsideRange?.(batch);
    if (outside !== undefined) this.onOutside(outside);
  }

  private onOutside(outside: OutsideRange): void {
    this.outsideSteps++;
    const [, most] = outside.range;
    if (most === 0) this.unmeasuredSteps++;
    const excess = most === 0 ? 0 : outside.value / most;
    if (this.outermost === undefined || excess > this.largestExcess) {
      this.outermost = outside;
      this.largestExcess = excess;
    }
    if (this.options.refuse) {
      throw new HardwareError(
        'outside-range',
        `Refused to extrapolate: ${describeOutside(outside)}.`,
      );
    }
    if (this.outsideSteps === 1) this.options.report(outside);
  }
}

/** The model without its guard, for hypothetical batches that no engine runs. */
export function forEstimates(model: StepTimeModel): StepTimeModel {
  return model instanceof RangeGuard ? model.model : model;
}
