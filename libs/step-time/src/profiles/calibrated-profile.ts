import type { FitError } from './step-time-profile';

/**
 * Shipped step times of one model on one kind of GPU, as fitted to
 * data/profiles/calibration_grid.csv. Milliseconds of GPU time.
 */
export interface CalibratedProfile {
  readonly gpu: string;
  readonly model: string;
  readonly tp: number;
  /** Everything but attention, at the points of LINEAR_TOKENS. */
  readonly linearMs: readonly number[];
  /** g0, g1, g2 of StepTimeProfile. */
  readonly decodeAttentionMs: readonly [number, number, number];
  /** h0, h1 of StepTimeProfile. */
  readonly prefillAttentionMs: readonly [number, number];
  readonly decodeErrorPercent: FitError;
  readonly prefillErrorPercent: FitError;
}
