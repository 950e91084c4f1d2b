interface ErrorEnds {
  readonly points: number;
  readonly low: number;
  readonly high: number;
}

/**
 * How the step times of the engines of one role were made, and how far the run left what was
 * measured.
 */
export interface StepTimesSummary {
  /**
   * Measured over modelled durations of steps that the fit never saw, at their 10 % and 90 %
   * points, by what steps compute; where the profile has them.
   */
  readonly held_out_factors?: {
    readonly prefill?: ErrorEnds | undefined;
    readonly decode?: ErrorEnds | undefined;
  };
  readonly role: string;
  /** `composed`, `calibrated`, `estimated`, or `given` by the user. */
  readonly method: string;
  readonly description: string;
  /** Steps that lay outside of what was measured; null: the model has no range. */
  readonly steps_outside_range: number | null;
  /** How many times the largest measured value the farthest of them had; null: none did. */
  readonly farthest_outside: number | null;
}
