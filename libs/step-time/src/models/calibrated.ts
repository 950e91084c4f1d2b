import { describePrecision, type EnginePlacement, goesBy, HardwareError } from '@baton/hardware';
import { DecodeLawMemo } from '../port/decode-law-memo';
import type { BatchAggregates, DecodeLaw, StepTimeModel } from '../port/step-time-model';
import { TokenLine } from '../port/token-line';
import { contextLimitOf, outsideOf, type OutsideRange, type ValidRange } from '../port/valid-range';
import { shippedPlacements, shippedProfile } from '../profiles/shipped-profiles';
import type { StepTimeProfile } from '../profiles/step-time-profile';

export interface CalibratedOverrides {
  /** Added to each step; unset: the profile's own. */
  readonly overheadMs?: number | undefined;
  /** Factor on decode attention in steps that also prefill; unset: the profile's own, else 1. */
  readonly mixedDecodeFactor?: number | undefined;
}

export interface CalibratedSpec extends CalibratedOverrides {
  readonly kind: 'calibrated';
  /** Unset: the shipped one of the placement. */
  readonly profile?: StepTimeProfile | undefined;
}

/**
 * The model of the given profile, or of the one shipped for the placement.
 *
 * @throws HardwareError `not-calibrated`
 */
export function calibratedStepTime(
  spec: CalibratedSpec,
  placement: EnginePlacement,
): CalibratedStepTime {
  const profile = spec.profile ?? shippedProfile(placement) ?? missing(placement);
  checkMeasuredOn(profile, placement);
  return new CalibratedStepTime(profile, spec);
}

/**
 * Step time composed from measured parts: `lin(T) + g0 + g1 · B + g2 · Σctx + h0 + h1 · Q +
 * overhead`, T = all tokens of the step, B = decoding sequences, Q = Σ ((p + n)² − p²). The
 * attention terms count only when their part is in the batch.
 */
export class CalibratedStepTime implements StepTimeModel {
  readonly method = 'calibrated';
  readonly overheadMs: number;
  readonly description: string;
  readonly heldOut: StepTimeProfile['heldOut'];
  readonly noise: StepTimeProfile['noise'];
  private readonly linearUs: TokenLine;
  private readonly decodeFixedUs: number;
  private readonly decodeSeqUs: number;
  private readonly decodeContextUs: number;
  private readonly prefillFixedUs: number;
  private readonly prefillQuadraticUs: number;
  private readonly overheadUs: number;
  private readonly mixedDecodeFactor: number;
  private readonly valid: ValidRange;
  private readonly laws: DecodeLawMemo;

  constructor(profile: StepTimeProfile, own: CalibratedOverrides = {}) {
    const overheadMs = own.overheadMs ?? profile.overheadMs;
    const inUs = (ms: readonly number[]) => ms.map((value) => value * 1000);
    this.linearUs = new TokenLine(profile.linear.tokens, inUs(profile.linear.ms));
    const [fixed, perSeq, perContext] = inUs(profile.decodeAttentionMs);
    this.decodeFixedUs = fixed!;
    this.decodeSeqUs = perSeq!;
    this.decodeContextUs = perContext!;
    this.prefillFixedUs = profile.prefillAttentionMs[0] * 1000;
    this.prefillQuadraticUs = profile.prefillAttentionMs[1] * 1000;
    this.overheadMs = overheadMs;
    this.overheadUs = overheadMs * 1000;
    this.mixedDecodeFactor = own.mixedDecodeFactor ?? profile.mixedDecodeFactor ?? 1;
    this.valid = profile.valid;
    this.heldOut = profile.heldOut;
    this.noise = profile.noise;
    this.laws = new DecodeLawMemo((seqs) => this.decodeBaseUs(seqs), this.decodeContextUs);
    this.description = describe(profile, overheadMs);
  }

  stepUs(batch: BatchAggregates): number {
    const { prefillTokens, decodeSeqs, decodeContext, draftTokens = 0 } = batch;
    if (prefillTokens + draftTokens === 0) {
      return this.decodeBaseUs(decodeSeqs) + this.decodeContextUs * decodeContext;
    }
    const linear = this.linearUs.at(prefillTokens + decodeSeqs + draftTokens) + this.overheadUs;
    const prefill = this.prefillFixedUs + this.prefillQuadraticUs * batch.prefillQuadratic;
    if (decodeSeqs === 0) return linear + prefill;
    const decode =
      this.decodeFixedUs + this.decodeSeqUs * decodeSeqs + this.decodeContextUs * decodeContext;
    if (prefillTokens === 0) return linear + decode;
    return linear + prefill + this.mixedDecodeFactor * decode;
  }

  decodeLaw(decodeSeqs: number): DecodeLaw {
    return this.laws.of(decodeSeqs);
  }

  /** Beyond the range the last slopes continue. */
  outsideRange(batch: BatchAggregates): OutsideRange | undefined {
    return outsideOf(this.valid, batch);
  }

  contextLimit(decodeSeqs: number): number {
    return contextLimitOf(this.valid, decodeSeqs);
  }

  private decodeBaseUs(decodeSeqs: number): number {
    const attention = this.decodeFixedUs + this.decodeSeqUs * decodeSeqs;
    return this.linearUs.at(decodeSeqs) + this.overheadUs + attention;
  }
}

function missing({ model, gpu, tp }: EnginePlacement): never {
  throw new HardwareError(
    'not-calibrated',
    `No calibration is shipped for ${model.name} on ${gpu.name} TP${tp}; use the roofline model. ` +
      `Shipped: ${shippedPlacements().join(', ')}.`,
  );
}

type MeasuredPlacement = Pick<StepTimeProfile, 'model' | 'gpu' | 'tp' | 'precision'>;

/**
 * A profile with a placement or formats applies only to these.
 *
 * @throws HardwareError `not-calibrated`
 */
export function checkMeasuredOn(
  profile: MeasuredPlacement,
  { model, gpu, tp }: EnginePlacement,
): void {
  const isOwn =
    (profile.model === undefined || goesBy(model, profile.model)) &&
    (profile.gpu === undefined || goesBy(gpu, profile.gpu)) &&
    (profile.tp === undefined || profile.tp === tp);
  if (!isOwn) throw fittedFor(placementOf(profile), `${model.name} on ${gpu.name} TP${tp}`);
  const precision = describePrecision(model.precision);
  if ((profile.precision ?? precision) === precision) return;
  throw fittedFor(profile.precision!, precision);
}

/** The refusal of a profile that was fitted for something else. */
export function fittedFor(fitted: string, requested: string): HardwareError {
  return new HardwareError(
    'not-calibrated',
    `The step-time profile was fitted for ${fitted}, not for ${requested}.`,
  );
}

function describe(profile: StepTimeProfile, overheadMs: number): string {
  const { decodeErrorPercent: decode, prefillErrorPercent: prefill } = profile;
  const errors = [
    ...(decode ? [`decode ${decode.mean} %`] : []),
    ...(prefill ? [`prefill ${prefill.mean} %`] : []),
  ];
  const fitted = errors.length === 0 ? '' : ` (mean fit error: ${errors.join(', ')})`;
  return `calibrated ${placementOf(profile)}, overhead ${overheadMs} ms${fitted}`;
}

function placementOf({ model, gpu, tp }: Pick<StepTimeProfile, 'model' | 'gpu' | 'tp'>): string {
  const degree = tp === undefined ? '' : ` TP${tp}`;
  return `${model ?? 'any model'} on ${gpu ?? 'any GPU'}${degree}`;
}
