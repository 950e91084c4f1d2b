import type { AnswerSource } from './given-answer';
import type { StructuredText } from './structured/structured-text';
import type { Steering } from './steered-tokens';
import type { ChatTemplate } from './templates/chat-template';
import type { Tokenizer } from './tokenizers/tokenizer';
import type { ToolKind, ToolOffer } from './tool-calls';

/**
 * Output tokens of a sequence without any limit, from 1 (a length model of the workload library).
 */
export type OutputLengthModel = (seed: number, hash: number) => number;

/** All inputs of the text of one sequence. */
export interface PlanInput {
  readonly tokenizer: Tokenizer;
  /** Markup of reasoning and calls. Default: ChatML. */
  readonly template?: ChatTemplate | undefined;
  /** The prompt's ids, after the chat template. */
  readonly promptIds: ArrayLike<number>;
  readonly model: string;
  /** The request's seed, else the server's; an integer. */
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
  /** Tokens that the request favours or bans. Applies to sentences only. */
  readonly steering?: Steering | undefined;
  /** Constraint on the content. Stop conditions do not apply to constrained content. */
  readonly constraint?: StructuredText | undefined;
  /** Functions that may or must be called in place of content. */
  readonly tools?: ToolOffer | undefined;
  /** The reasoning before the answer. Undefined for an answer without reasoning. */
  readonly reasoning?: ReasoningWish | undefined;
  /**
   * Source of the words of simulated text: sentences (the default), or random words of the whole
   * vocabulary.
   */
  readonly words?: WordChoice | undefined;
  /** Answers that the user wrote. Undefined: all answers are simulated. */
  readonly answers?: AnswerSource | undefined;
}

export type WordChoice = 'sentences' | 'random';

export interface ReasoningWish {
  /** Length of the reasoning before `effort`, in tokens. */
  readonly lengthModel: OutputLengthModel;
  /** Factor on that length; above 0. */
  readonly effort: number;
  /** Limit of tokens, from 0. Infinity: only the limit of the request applies. */
  readonly maxTokens: number;
}

/**
 * The output of one sequence. It is fixed at admission, and equal in every run and on every engine.
 */
export interface OutputPlan {
  /** Sampled tokens, including those of a stop string. */
  readonly tokenIds: Int32Array;
  readonly count: number;
  readonly endReason: 'stop' | 'length';
  /**
   * The stop string or stop token that ended the sequence. Null at a natural end or at the limit.
   */
  readonly stopReason: string | number | null;
  /** Hash of prompt, model, seed and choice. Log-probabilities are drawn from it. */
  readonly hash: number;
  /**
   * The visible text, where it differs from the texts of the tokens. Undefined: the text of each
   * token is visible at once.
   */
  readonly cut: TextCut | undefined;
  /** Runs of tokens by meaning, in order and without gaps. Undefined: all tokens are content. */
  readonly segments: readonly PlanSegment[] | undefined;
}

/**
 * The visible text of a run of tokens that differs from the text of the tokens. Offsets are UTF-16
 * units of the whole text of the run.
 */
export interface TextCut {
  /** The text, cut where a stop string begins (where it ends with `includeStop`). */
  readonly text: string;
  /** End offset of each token in the uncut text. */
  readonly ends: Uint32Array;
  /** Characters that a stream keeps back until the sequence ends. */
  readonly heldBack: number;
}

/**
 * A run of tokens with one meaning. `call` opens a function call and shows only the function's
 * name, with its last token; the `arguments` follow. `hidden` tokens are markup.
 */
export interface PlanSegment {
  readonly kind: 'reasoning' | 'content' | 'call' | 'arguments' | 'hidden';
  /** Tokens `[from, to)` of the sequence. */
  readonly from: number;
  readonly to: number;
  /** The cut of the plan, for the tokens of this segment. */
  readonly cut: TextCut | undefined;
  /** Name of the function, in `call` and `arguments`. */
  readonly name: string;
  /** Index of the call within the answer, from 0. */
  readonly call: number;
  readonly callKind: ToolKind;
}
