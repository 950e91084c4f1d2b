import type { LiveTarget } from './target';

/** The common inputs of all measurements. */
export interface Measuring {
  readonly target: LiveTarget;
  /** Number of measurements of each point; their median counts. */
  readonly rounds: number;
  /** Maximum sum of prompt and output, tokens. Infinity: unknown. */
  readonly maxModelLen: number;
  /** Shows the user the progress, and the engines that are left out. */
  say(sentence: string): void;
}
