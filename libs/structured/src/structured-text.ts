export interface WriteOptions {
  /** How much is written: 0 is the least that the constraint allows, 3 the most that is offered. */
  readonly ease: number;
}

/** Texts under one constraint. Made once per request, and known to be possible. */
export interface StructuredText {
  /**
   * A text that meets the constraint; a function of the constraint, the seed (an integer from 0)
   * and the options.
   */
  write(seed: number, options: WriteOptions): string;
  /** Whether a text from elsewhere meets it too; missing: that cannot be decided. */
  accepts?(text: string): boolean;
}
