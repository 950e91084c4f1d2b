import { type EnginePlacement } from '../engine-placement';
import { goesBy } from '../find-by-name';
import { HardwareError } from '../hardware-error';
import type { CalibratedProfile } from '../profiles/calibrated-profile';
import { CALIBRATED_PROFILES, LINEAR_TOKENS } from '../profiles/calibrated-profiles';
import { DecodeLawMemo } from './decode-law-memo';
import { engineOverheadMs } from './engine-overhead';
import { PiecewiseLinear } from './piecewise-linear';
import type { BatchAggregates, DecodeLaw, StepTimeModel } from './step-time-model';

export interface CalibratedSpec {
  readonly kind: 'calibrated';
  /** Added to each step; unset: the documented residual of real engines. */
  readonly overheadMs?: number | undefined;
  /** Factor on decode attention in steps that also prefill; unset: 1, an assumption. */
  readonly mixedDecodeFactor?: number | undefined;
}

/** Whether a calibration is shipped for exactly this model, GPU and degree. */
export function isCalibrated(placement: EnginePlacement): boolean {
  return profileOf(placement) !== undefined;
}

/**
 * Step time composed from measured operators: `lin(T) + g0 + g1 · B + g2 · Σctx + h0 + h1 · Q +
 * overhead`, T = all tokens of the step, B = decoding sequences, Q = Σ ((p + n)² − p²). The
 * attention terms count only when their part is in the batch.
 */
export class CalibratedStepTime implements StepTimeModel {
  readonly description: string;
  private readonly linearUs: PiecewiseLinear;
  private readonly overheadUs: number;
  private readonly mixedDecodeFactor: number;
  private readonly decodeUs: readonly number[];
  private readonly prefillUs: readonly number[];
  private readonly laws: DecodeLawMemo;

  /** @throws HardwareError `not-calibrated` */
  constructor(spec: CalibratedSpec, placement: EnginePlacement) {
    const profile = profileOf(placement) ?? missing(placement);
    const overheadMs = spec.overheadMs ?? engineOverheadMs(placement.tp);
    const inUs = (ms: readonly number[]) => ms.map((value) => value * 1000);
    this.linearUs = new PiecewiseLinear(LINEAR_TOKENS, inUs(profile.linearMs));
    this.decodeUs = inUs(profile.decodeAttentionMs);
    this.prefillUs = inUs(profile.prefillAttentionMs);
    this.overheadUs = overheadMs * 1000;
    this.mixedDecodeFactor = spec.mixedDecodeFactor ?? 1;
    this.laws = new DecodeLawMemo((decodeSeqs) => this.decodeBaseUs(decodeSeqs), this.decodeUs[2]!);
    this.description =
      `calibrated ${profile.model} on ${profile.gpu} TP${profile.tp}, overhead ${overheadMs} ms ` +
      `(mean fit error: decode ${profile.decodeErrorPercent.mean} %, prefill ${profile.prefillErrorPercent.mean} %)`;
  }

  stepUs(batch: BatchAggregates): number {
    const { prefillTokens, decodeSeqs, decodeContext } = batch;
    if (prefillTokens === 0) {
      return this.decodeBaseUs(decodeSeqs) + this.decodeUs[2]! * decodeContext;
    }
    const linear = this.linearUs.at(prefillTokens + decodeSeqs) + this.overheadUs;
    const prefill = this.prefillUs[0]! + this.prefillUs[1]! * batch.prefillQuadratic;
    if (decodeSeqs === 0) return linear + prefill;
    const decode =
      this.decodeUs[0]! + this.decodeUs[1]! * decodeSeqs + this.decodeUs[2]! * decodeContext;
    return linear + prefill + this.mixedDecodeFactor * decode;
  }

  decodeLaw(decodeSeqs: number): DecodeLaw {
    return this.laws.of(decodeSeqs);
  }

  /** Up to the last measured number of tokens per step; beyond, the last slope goes on. */
  isWithinRange(batch: BatchAggregates): boolean {
    return batch.prefillTokens + batch.decodeSeqs <= this.linearUs.lastX;
  }

  private decodeBaseUs(decodeSeqs: number): number {
    const attention = this.decodeUs[0]! + this.decodeUs[1]! * decodeSeqs;
    return this.linearUs.at(decodeSeqs) + this.overheadUs + attention;
  }
}

function profileOf({ model, gpu, tp }: EnginePlacement): CalibratedProfile | undefined {
  return CALIBRATED_PROFILES.find(
    (profile) => profile.tp === tp && goesBy(gpu, profile.gpu) && goesBy(model, profile.model),
  );
}

function missing({ model, gpu, tp }: EnginePlacement): never {
  const shipped = CALIBRATED_PROFILES.map((p) => `${p.model} on ${p.gpu} TP${p.tp}`);
  throw new HardwareError(
    'not-calibrated',
    `No calibration is shipped for ${model.name} on ${gpu.name} TP${tp}; use the roofline model. ` +
      `Shipped: ${shipped.join(', ')}.`,
  );
}
