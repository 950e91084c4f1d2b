import { checkParallel, type EnginePlacement, expertGroupOf } from '@baton/hardware';
import { DecodeLawMemo } from '../port/decode-law-memo';
import { engineOverheadMs } from '../port/engine-overhead';
import type { BatchAggregates, DecodeLaw, StepTimeModel } from '../port/step-time-model';
import { type AttentionCost, attentionCostOf } from './roofline-attention';
import { type CollectiveCost, collectiveCostOf } from './roofline-collectives';
import { type LinearCost, linearCostOf } from './roofline-linear';

export interface RooflineSpec {
  readonly kind: 'roofline';
  /** Added to each step; unset: the documented residual of real engines. */
  readonly overheadMs?: number | undefined;
  /** Factor on decode attention in steps that also prefill; unset: 1, an assumption. */
  readonly mixedDecodeFactor?: number | undefined;
}

/**
 * Step time from first principles, for any model and GPU of the catalogues. Matrix products,
 * attention of decode and attention of prefill run one after the other; each takes the larger of
 * its computing and its reading time. Then come the collectives and the engine's overhead. Both
 * sides of decode attention grow with Σ context alone, so that the larger one never changes and a
 * decode step follows a single line.
 */
export class RooflineStepTime implements StepTimeModel {
  readonly method = 'estimated';
  readonly overheadMs: number;
  readonly description: string;
  private readonly linear: LinearCost;
  private readonly attention: AttentionCost;
  private readonly collectives: CollectiveCost;
  private readonly overheadUs: number;
  private readonly mixedDecodeFactor: number;
  private readonly laws: DecodeLawMemo;

  /** @throws HardwareError `bad-tensor-parallel`, `bad-expert-parallel` */
  constructor(spec: RooflineSpec, placement: EnginePlacement) {
    checkParallel(placement);
    const overheadMs = spec.overheadMs ?? engineOverheadMs(placement.tp);
    this.linear = linearCostOf(placement);
    this.attention = attentionCostOf(placement);
    this.collectives = collectiveCostOf(placement);
    this.overheadMs = overheadMs;
    this.overheadUs = overheadMs * 1000;
    this.mixedDecodeFactor = spec.mixedDecodeFactor ?? 1;
    const perContextUs = this.attention.decodeUsPerContext;
    this.laws = new DecodeLawMemo((decodeSeqs) => this.decodeBaseUs(decodeSeqs), perContextUs);
    this.description =
      `roofline ${describePlacement(placement)}, overhead ${overheadMs} ms ` +
      '(estimated, not measured: ±60 %)';
  }

  stepUs(batch: BatchAggregates): number {
    const { prefillTokens, decodeSeqs, decodeContext, draftTokens = 0, expertTokens } = batch;
    const { decodeUsPerContext, decodeUsPerSeq } = this.attention;
    if (prefillTokens + draftTokens === 0 && (expertTokens ?? decodeSeqs) === decodeSeqs) {
      return this.decodeBaseUs(decodeSeqs) + decodeUsPerContext * decodeContext;
    }
    const decodeTokens = decodeSeqs + draftTokens;
    const decode = decodeUsPerSeq * decodeSeqs + decodeUsPerContext * decodeContext;
    const factor = prefillTokens > 0 ? this.mixedDecodeFactor : 1;
    return (
      this.linear.timeUs(batch) +
      this.attention.prefillUs(batch) +
      factor * this.attention.decodeGrowth(decodeTokens / Math.max(1, decodeSeqs)) * decode +
      this.fixedUs(prefillTokens + decodeTokens)
    );
  }

  decodeLaw(decodeSeqs: number): DecodeLaw {
    return this.laws.of(decodeSeqs);
  }

  private decodeBaseUs(decodeSeqs: number): number {
    const attention = this.attention.decodeUsPerSeq * decodeSeqs;
    const linear = this.linear.timeUs({ prefillTokens: 0, prefillSeqs: 0, decodeSeqs });
    return linear + attention + this.fixedUs(decodeSeqs);
  }

  private fixedUs(tokens: number): number {
    const { fixedUs, usPerToken } = this.collectives;
    return fixedUs + usPerToken * tokens + this.overheadUs;
  }
}

export function describePlacement(placement: EnginePlacement): string {
  const { model, gpu, tp, pp = 1, dp = 1 } = placement;
  const stages = pp > 1 ? ` PP${pp}` : '';
  const ranks = dp > 1 ? ` DP${dp}` : '';
  const experts = placement.expertParallel ? ` EP${expertGroupOf(placement)}` : '';
  return `${model.name} on ${gpu.name} TP${tp}${stages}${ranks}${experts}`;
}
