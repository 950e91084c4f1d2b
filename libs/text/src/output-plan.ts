import type { AnswerSource } from './given-answer';
import type { StructuredText } from '@baton/structured';
import type { Steering } from './steered-tokens';
import type { ChatTemplate } from './templates/chat-template';
import type { Tokenizer } from './tokenizers/tokenizer';
import type { ToolKind, ToolOffer } from './tool-calls';

/**
 * Output tokens that a sequence would have without any limit, from 1 (a length model of the
 * workload library).
 */
export type OutputLengthModel = (seed: number, hash: number) => number;

/** All that the text of one sequence depends on. */
export interface PlanInput {
  readonly tokenizer: Tokenizer;
  /** Spells reasoning and calls. Default ChatML. */
  readonly template?: ChatTemplate | undefined;
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
  readonly lengthModel: OutputLengthModel;
  /** Which tokens are favoured and which forbidden. Concerns sentences alone. */
  readonly steering?: Steering | undefined;
  /** Confines the content; stop conditions do not apply to it. */
  readonly constraint?: StructuredText | undefined;
  /** Functions that may or must be called in place of content. */
  readonly tools?: ToolOffer | undefined;
  /** The reasoning before the answer; undefined: none. */
  readonly reasoning?: ReasoningWish | undefined;
  /**
   * Where simulated text takes its words from: sentences (the default), or the whole vocabulary
   * without sense.
   */
  readonly words?: WordChoice | undefined;
  /** Answers written by the user; undefined: all is simulated. */
  readonly answers?: AnswerSource | undefined;
}

export type WordChoice = 'sentences' | 'random';

export interface ReasoningWish {
  /** How long reasoning is by nature. */
  readonly lengthModel: OutputLengthModel;
  /** Multiplies that length; above 0. */
  readonly effort: number;
  /** Most tokens, from 0; Infinity: no bound of its own. */
  readonly maxTokens: number;
}

/**
 * One sequence as it will be generated: fixed at admission, the same wherever and however often it
 * runs.
 */
export interface OutputPlan {
  /** Sampled tokens, those of a stop string included. */
  readonly tokenIds: Int32Array;
  readonly count: number;
  readonly endReason: 'stop' | 'length';
  /** The stop string or stop token that ended it, null at a natural end or at the limit. */
  readonly stopReason: string | number | null;
  /** Names (prompt, model, seed, choice); log-probabilities hang on it. */
  readonly hash: number;
  /**
   * Present when a token's text is not visible as it is: else every token's text is visible at
   * once.
   */
  readonly cut: TextCut | undefined;
  /** What the tokens are, in order and without gap; undefined: all of them are content. */
  readonly segments: readonly PlanSegment[] | undefined;
}

/**
 * The visible text of a run of tokens, where it is not just what they spell. Offsets are UTF-16
 * units of the whole text of the run.
 */
export interface TextCut {
  /** The text, cut where a stop string begins (or ends, with `includeStop`). */
  readonly text: string;
  /** End offset of each token in the uncut text. */
  readonly ends: Uint32Array;
  /** Characters a stream keeps back until the sequence ends. */
  readonly heldBack: number;
}

/**
 * A run of tokens with one meaning. `call` opens a function call and shows nothing but the
 * function's name, once its last token is there; the `arguments` follow it. `hidden` tokens are
 * markup.
 */
export interface PlanSegment {
  readonly kind: 'reasoning' | 'content' | 'call' | 'arguments' | 'hidden';
  /** Tokens `[from, to)` of the sequence. */
  readonly from: number;
  readonly to: number;
  /** As in the plan, for the tokens of this segment. */
  readonly cut: TextCut | undefined;
  /** Of the function, in `call` and `arguments`. */
  readonly name: string;
  /** Which call of the answer, from 0. */
  readonly call: number;
  readonly callKind: ToolKind;
}
