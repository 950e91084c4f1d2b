import type { LiveTarget } from './target';

/** What every measurement needs. */
export interface Measuring {
  readonly target: LiveTarget;
  /** Times that each point is measured; its median counts. */
  readonly rounds: number;
  /** Longest prompt plus output; Infinity: not known. */
  readonly maxModelLen: number;
  /** Tells the user how far it is, and what is left out. */
  say(sentence: string): void;
}
