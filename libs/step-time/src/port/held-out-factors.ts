/** Ratios of measured to modelled durations of held-out steps. */
export interface HeldOutFactors {
  readonly points: number;
  /** Their 10 % and 90 % points; of fewer than ten points the lowest and the highest. */
  readonly low: number;
  readonly high: number;
}

/** Factors by kind of step: with prompts, or decode only. */
export interface HeldOutByPhase {
  readonly prefill?: HeldOutFactors | undefined;
  readonly decode?: HeldOutFactors | undefined;
}
