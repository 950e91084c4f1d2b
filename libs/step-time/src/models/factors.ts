import type { BatchAggregates, DecodeLaw, StepTimeModel } from '../port/step-time-model';
import type { HeldOutByPhase } from '../port/held-out-factors';
import type { StepNoise } from '../port/step-noise';
import { contextLimitOf, outsideOf, type OutsideRange, type ValidRange } from '../port/valid-range';
import type { FitError } from '../profiles/step-time-profile';

/** Corrections of composed step times by own measurements. */
export interface FactorProfile {
  /** The measured GPU; unset: unknown, usable with any. */
  readonly gpu?: string | undefined;
  readonly model?: string | undefined;
  readonly tp?: number | undefined;
  /** Formats of weights and KV cache, as `describePrecision` says them. */
  readonly precision?: string | undefined;
  /** Whose kernels the composed steps had; unset: vllm. */
  readonly framework?: string | undefined;
  /** Data-parallel ranks that shared the experts; unset: 1. */
  readonly dp?: number | undefined;
  /** Whether each rank had whole experts; unset: false. */
  readonly expertParallel?: boolean | undefined;
  /** Sum over the user's own operators that it was fitted with; unset: only shipped ones. */
  readonly ownOperators?: string | undefined;
  /** Factors on a step without decode attention, and on steps that only decode; above 0. */
  readonly prefill: number;
  readonly decode: number;
  /** Added per step, ms, from 0; it replaces the composed model's overhead. */
  readonly constantMs: number;
  readonly valid: ValidRange;
  readonly decodeErrorPercent?: FitError | undefined;
  readonly prefillErrorPercent?: FitError | undefined;
  readonly heldOut?: HeldOutByPhase | undefined;
  readonly noise?: StepNoise | undefined;
}

/**
 * Composed step times with one factor for decode and one for the rest, plus a constant per step.
 * The decode part is the additional time of a step because of its decoding sequences.
 */
export class FactoredStepTime implements StepTimeModel {
  readonly method = 'calibrated';
  readonly description: string;
  readonly overheadMs: number;
  readonly heldOut: HeldOutByPhase | undefined;
  readonly noise: StepNoise | undefined;
  private readonly constantUs: number;
  private readonly valid: ValidRange;
  private readonly withoutDecode = emptyBatch();

  /** @param base  composed, without overhead */
  constructor(
    private readonly base: StepTimeModel & Required<Pick<StepTimeModel, 'decodeLaw'>>,
    private readonly profile: FactorProfile,
  ) {
    const { prefill, decode, constantMs } = profile;
    this.overheadMs = constantMs;
    this.constantUs = constantMs * 1_000;
    this.valid = profile.valid;
    this.heldOut = profile.heldOut;
    this.noise = profile.noise;
    this.description =
      `calibrated: prefill × ${prefill}, decode × ${decode}, ${constantMs} ms per step, ` +
      `over steps ${base.description}`;
  }

  stepUs(batch: BatchAggregates): number {
    const { prefillTokens, decodeSeqs, decodeContext, draftTokens = 0 } = batch;
    if (prefillTokens + draftTokens === 0) {
      const law = this.decodeLaw(decodeSeqs, decodeContext)!;
      return law.baseUs + law.perContextUs * decodeContext;
    }
    const [rest, decode] = partsOf(this.base, batch, this.withoutDecode);
    return this.profile.prefill * rest + this.profile.decode * decode + this.constantUs;
  }

  decodeLaw(decodeSeqs: number, decodeContext = 0): DecodeLaw | undefined {
    const law = this.base.decodeLaw(decodeSeqs, decodeContext);
    if (law === undefined) return undefined;
    const { decode } = this.profile;
    return {
      baseUs: decode * law.baseUs + this.constantUs,
      perContextUs: decode * law.perContextUs,
      contextLimit: law.contextLimit,
    };
  }

  /** Factors are valid where they were measured, composed steps where operators were. */
  outsideRange(batch: BatchAggregates): OutsideRange | undefined {
    return outsideOf(this.valid, batch) ?? this.base.outsideRange?.(batch);
  }

  contextLimit(decodeSeqs: number): number {
    const own = this.base.contextLimit?.(decodeSeqs) ?? Infinity;
    return Math.min(contextLimitOf(this.valid, decodeSeqs), own);
  }
}

/** A composed step in the parts that the two factors multiply, µs. */
export function factorParts(
  base: StepTimeModel,
  batch: BatchAggregates,
): readonly [rest: number, decode: number] {
  return partsOf(base, batch, emptyBatch());
}

type Batch = { -readonly [Key in keyof BatchAggregates]: BatchAggregates[Key] };

/** @param rest  is overwritten */
function partsOf(base: StepTimeModel, batch: BatchAggregates, rest: Batch): [number, number] {
  const wholeUs = base.stepUs(batch);
  if (batch.prefillTokens === 0) return [0, wholeUs];
  if (batch.decodeSeqs === 0) return [wholeUs, 0];
  rest.prefillTokens = batch.prefillTokens;
  rest.prefillSeqs = batch.prefillSeqs;
  rest.prefillQuadratic = batch.prefillQuadratic;
  rest.prefillContext = batch.prefillContext;
  rest.expertTokens = batch.expertTokens;
  const restUs = base.stepUs(rest);
  return [restUs, wholeUs - restUs];
}

function emptyBatch(): Batch {
  return {
    prefillTokens: 0,
    prefillSeqs: 0,
    prefillQuadratic: 0,
    prefillContext: 0,
    decodeSeqs: 0,
    decodeContext: 0,
    draftTokens: 0,
    kvUsage: 0,
    expertTokens: undefined,
  };
}
