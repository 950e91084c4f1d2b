export interface WriteOptions {
  /** Degree of detail: 0 is the shortest text that the constraint allows, 3 the richest. */
  readonly ease: number;
}

/** Texts under one constraint. Made once per request; at least one text exists. */
export interface StructuredText {
  /**
   * A text that meets the constraint. It depends only on the constraint, the seed (an integer from
   * 0) and the options.
   */
  write(seed: number, options: WriteOptions): string;
  /** Whether a given text meets the constraint. Unset for a constraint without a test. */
  accepts?(text: string): boolean;
}
