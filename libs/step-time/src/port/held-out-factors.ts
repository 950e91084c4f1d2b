/** Measured over modelled durations of steps that a fit never saw. */
export interface HeldOutFactors {
  readonly points: number;
  /** Their 10 % and 90 % points; of fewer than ten points the lowest and the highest. */
  readonly low: number;
  readonly high: number;
}

/** By what a step computes: prompts, or tokens of sequences alone. */
export interface HeldOutByPhase {
  readonly prefill?: HeldOutFactors | undefined;
  readonly decode?: HeldOutFactors | undefined;
}
