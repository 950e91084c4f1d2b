import { checkTensorParallel, type EnginePlacement } from '../engine-placement';
import { DecodeLawMemo } from './decode-law-memo';
import { engineOverheadMs } from './engine-overhead';
import { type AttentionCost, attentionCostOf } from './roofline-attention';
import { type LinearCost, linearCostOf } from './roofline-linear';
import type { BatchAggregates, DecodeLaw, StepTimeModel } from './step-time-model';

export interface RooflineSpec {
  readonly kind: 'roofline';
  /** Added to each step; unset: the documented residual of real engines. */
  readonly overheadMs?: number | undefined;
  /** Factor on decode attention in steps that also prefill; unset: 1, an assumption. */
  readonly mixedDecodeFactor?: number | undefined;
}

const ACTIVATION_BYTES = 2;
/** One after attention, one after the feed-forward. */
const ALL_REDUCES_PER_LAYER = 2;

/**
 * Step time from first principles, for any model and GPU of the catalogues. Matrix products,
 * attention of decode and attention of prefill run one after the other; each takes the larger of
 * its computing and its reading time. Then come the all-reduces and the engine's overhead. Both
 * sides of decode attention grow with Σ context alone, so that the larger one never changes and a
 * decode step is a line for ever.
 */
export class RooflineStepTime implements StepTimeModel {
  readonly description: string;
  private readonly linear: LinearCost;
  private readonly attention: AttentionCost;
  private readonly allReduceFixedUs: number;
  private readonly allReduceUsPerToken: number;
  private readonly overheadUs: number;
  private readonly mixedDecodeFactor: number;
  private readonly laws: DecodeLawMemo;

  /** @throws HardwareError `bad-tensor-parallel` */
  constructor(spec: RooflineSpec, placement: EnginePlacement) {
    const { model, gpu, tp } = placement;
    checkTensorParallel(model, tp);
    const overheadMs = spec.overheadMs ?? engineOverheadMs(tp);
    this.linear = linearCostOf(placement);
    this.attention = attentionCostOf(placement);
    const reduces = tp > 1 ? ALL_REDUCES_PER_LAYER * model.layers : 0;
    const ringBytes = ((2 * (tp - 1)) / tp) * model.hidden * ACTIVATION_BYTES;
    const { bytesPerSecond, allReduceEfficiency } = gpu.interconnect;
    const bytesPerUs = (bytesPerSecond * allReduceEfficiency) / 1e6;
    this.allReduceFixedUs = reduces * gpu.interconnect.allReduceUs;
    this.allReduceUsPerToken = (reduces * ringBytes) / bytesPerUs;
    this.overheadUs = overheadMs * 1000;
    this.mixedDecodeFactor = spec.mixedDecodeFactor ?? 1;
    const perContextUs = this.attention.decodeUsPerContext;
    this.laws = new DecodeLawMemo((decodeSeqs) => this.decodeBaseUs(decodeSeqs), perContextUs);
    this.description = `roofline ${model.name} on ${gpu.name} TP${tp}, overhead ${overheadMs} ms`;
  }

  stepUs(batch: BatchAggregates): number {
    const { prefillTokens, decodeSeqs, decodeContext } = batch;
    const { decodeUsPerContext, decodeUsPerSeq } = this.attention;
    if (prefillTokens === 0) {
      return this.decodeBaseUs(decodeSeqs) + decodeUsPerContext * decodeContext;
    }
    const decode = decodeUsPerSeq * decodeSeqs + decodeUsPerContext * decodeContext;
    return (
      this.linear.us(prefillTokens, batch.prefillSeqs, decodeSeqs) +
      this.attention.prefillUs(batch) +
      this.mixedDecodeFactor * decode +
      this.fixedUs(prefillTokens + decodeSeqs)
    );
  }

  decodeLaw(decodeSeqs: number): DecodeLaw {
    return this.laws.of(decodeSeqs);
  }

  private decodeBaseUs(decodeSeqs: number): number {
    const attention = this.attention.decodeUsPerSeq * decodeSeqs;
    return this.linear.us(0, 0, decodeSeqs) + attention + this.fixedUs(decodeSeqs);
  }

  private fixedUs(tokens: number): number {
    return this.allReduceFixedUs + this.allReduceUsPerToken * tokens + this.overheadUs;
  }
}
