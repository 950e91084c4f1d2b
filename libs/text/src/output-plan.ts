import type { Tokenizer } from './tokenizer';

/** Output tokens that a sequence would have without any limit, from 1 (a length model of the workload library). */
export type LengthModel = (seed: number, hash: number) => number;

/** All that the text of one sequence depends on. */
export interface PlanInput {
  readonly tokenizer: Tokenizer;
  /** Prompt after the chat template. */
  readonly promptIds: ArrayLike<number>;
  readonly model: string;
  /** The request's seed, else the server's. Integer. */
  readonly seed: number;
  /** Index of the choice within its prompt, from 0. */
  readonly choice: number;
  /** At least 1. */
  readonly maxTokens: number;
  readonly minTokens: number;
  readonly ignoreEos: boolean;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly includeStop: boolean;
  readonly lengthModel: LengthModel;
}

/** One sequence as it will be generated: fixed at admission, the same wherever and however often it runs. */
export interface OutputPlan {
  /** Sampled tokens, those of a stop string included. */
  readonly tokenIds: Int32Array;
  readonly count: number;
  readonly endReason: 'stop' | 'length';
  /** The stop string or stop token that ended it, null at a natural end or at the limit. */
  readonly stopReason: string | number | null;
  /** Names (prompt, model, seed, choice); log-probabilities hang on it. */
  readonly hash: number;
  /** Present when stop strings or stop tokens hide text: else every token's text is visible at once. */
  readonly cut: TextCut | undefined;
}

/** What a stop condition hides. Offsets are UTF-16 units of the whole generated text. */
export interface TextCut {
  /** The generated text, cut where the stop string begins (or ends, with `includeStop`). */
  readonly text: string;
  /** End offset of each token in the uncut text. */
  readonly ends: Uint32Array;
  /** Characters a stream keeps back until the sequence ends. */
  readonly heldBack: number;
}
