import type { HeldOutByPhase } from '../port/held-out-factors';
import type { StepNoise } from '../port/step-noise';
import type { ValidRange } from '../port/valid-range';

/** Mean and largest error of a fit over points it was compared with, in percent. */
export interface FitError {
  readonly mean: number;
  readonly max: number;
}

/**
 * Step times of one model on one kind of GPU, in milliseconds: `linear(T) + [decode] · (g0 + g1 · B
 * + g2 · Σctx) + [prefill] · (h0 + h1 · Q) + overhead`.
 */
export interface StepTimeProfile {
  /** The measured GPU; unset: unknown, usable with any. */
  readonly gpu?: string | undefined;
  readonly model?: string | undefined;
  readonly tp?: number | undefined;
  /** Formats of weights and KV cache, as `describePrecision` says them; unset: unknown. */
  readonly precision?: string | undefined;
  /**
   * Everything but attention over the tokens T of a step: straight lines between points, rising T.
   */
  readonly linear: { readonly tokens: readonly number[]; readonly ms: readonly number[] };
  /** g0, g1, g2: attention of decode = g0 + g1 · sequences + g2 · Σ context. */
  readonly decodeAttentionMs: readonly [number, number, number];
  /** h0, h1: attention of prefill = h0 + h1 · Σ ((p + n)² − p²). */
  readonly prefillAttentionMs: readonly [number, number];
  /** Added to each step: 0 when whole steps were measured, more when only kernels were. */
  readonly overheadMs: number;
  /** Factor on decode attention in steps that also prefill; unset: 1, an assumption. */
  readonly mixedDecodeFactor?: number | undefined;
  readonly valid: ValidRange;
  readonly decodeErrorPercent?: FitError | undefined;
  readonly prefillErrorPercent?: FitError | undefined;
  readonly heldOut?: HeldOutByPhase | undefined;
  readonly noise?: StepNoise | undefined;
}
