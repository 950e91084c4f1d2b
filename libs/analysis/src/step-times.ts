interface ErrorEnds {
  readonly points: number;
  readonly low: number;
  readonly high: number;
}

/** A quantity of a step outside of the measured range. */
export interface OutsideStep {
  /** `prompt tokens per step`, in words for a user. */
  readonly what: string;
  readonly value: number;
  /** The smallest and the largest value that were measured; 0 as the largest: none was. */
  readonly measured: readonly [low: number, high: number];
}

/** The origin of the step times of one role, and how far the run left the measured range. */
export interface StepTimesSummary {
  /**
   * Ratio of measured to modelled durations of steps outside the fit, at the 10 % and 90 % points,
   * by the contents of the steps. Only where the profile has them.
   */
  readonly held_out_factors?: {
    readonly prefill?: ErrorEnds | undefined;
    readonly decode?: ErrorEnds | undefined;
  };
  readonly role: string;
  /** `composed`, `calibrated`, `estimated`, or `given` by the user. */
  readonly method: string;
  readonly description: string;
  /** Steps outside of the measured range. Null: the model has no range. */
  readonly steps_outside_range: number | null;
  /**
   * Steps of a shape that was not measured at all, so that they have no distance from the range.
   * Null: the model has no range.
   */
  readonly steps_of_unmeasured_shape: number | null;
  /**
   * Largest value of the others, relative to the largest measured value. Null: none is above it.
   */
  readonly farthest_outside: number | null;
  /** The quantity that lay farthest outside. Unset: none did, or it is not known. */
  readonly farthest_step?: OutsideStep;
}
