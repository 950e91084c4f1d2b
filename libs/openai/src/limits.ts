import type { Dialect } from '@baton/refusal';
import type { ChatTemplate, Tokenizer } from '@baton/text';

/** The start-up flags of a vLLM server that decide which requests it refuses. */
export interface Strictness {
  /** `--tool-call-parser`. */
  readonly toolCallParser: string | undefined;
  /** `--enable-auto-tool-choice`. */
  readonly enableAutoToolChoice: boolean;
}

/** The limits that requests are checked against; fixed for the life of a server. */
export interface RequestLimits {
  readonly dialect: Dialect;
  readonly tokenizer: Tokenizer;
  /** How the model writes conversations. Default ChatML. */
  readonly template?: ChatTemplate;
  /** Served names; the first answers requests that name none. */
  readonly models: readonly string[];
  /** The members of `models` that are aliases of the first. */
  readonly aliases?: readonly string[];
  /** When set, all documented checks of vLLM are made. */
  readonly strict?: Strictness;
  /** Fields that no server documents are ignored in the openai dialect too; else refused there. */
  readonly acceptsUnknownFields?: boolean;
  /** Prompt and output tokens together. */
  readonly maxModelLen: number;
  /** Tokens that the KV cache of one engine holds; prompt and output beyond it are refused. */
  readonly kvCapacityTokens?: number;
  /** Default 20. */
  readonly maxLogprobs?: number;
  /** True when the model reasons before it answers. */
  readonly isReasoning?: boolean;
  /** Prompt tokens of one image; undefined: the model takes no images. */
  readonly imageTokens?: number;
  /** Prompt tokens of one audio clip; undefined: the model takes no audio. */
  readonly audioTokens?: number;
  /**
   * Chance, in [0, 1], that `tool_choice: auto` calls a tool unless a tool has just answered.
   * Default: it calls when a tool fits the user's message.
   */
  readonly toolCallProbability?: number;
  /** Texts of prompts are kept for a text model that reads them. */
  readonly keepsText?: boolean;
  /** Chance, in [0, 1], of each further call in one answer. Default 0.45. */
  readonly extraToolCallProbability?: number;
}
