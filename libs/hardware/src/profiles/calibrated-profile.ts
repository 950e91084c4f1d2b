/** Mean and largest error of a fit over the grid it was fitted to, in percent. */
export interface FitError {
  readonly mean: number;
  readonly max: number;
}

/**
 * Step times of one model on one kind of GPU, as fitted to data/profiles/calibration_grid.csv.
 * Milliseconds of GPU time.
 */
export interface CalibratedProfile {
  readonly gpu: string;
  readonly model: string;
  readonly tp: number;
  /** Everything but attention, at the points of LINEAR_TOKENS. */
  readonly linearMs: readonly number[];
  /** g0, g1, g2: attention of decode = g0 + g1 · sequences + g2 · Σ context. */
  readonly decodeAttentionMs: readonly [number, number, number];
  /** h0, h1: attention of prefill = h0 + h1 · Σ ((p + n)² − p²). */
  readonly prefillAttentionMs: readonly [number, number];
  readonly decodeErrorPercent: FitError;
  readonly prefillErrorPercent: FitError;
}
