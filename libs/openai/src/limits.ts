import type { Dialect } from '@baton/refusal';
import type { ChatTemplate, Tokenizer } from '@baton/text';

/** How a vLLM server was started, as far as it refuses requests by it. */
export interface Strictness {
  /** `--tool-call-parser`. */
  readonly toolCallParser: string | undefined;
  /** `--enable-auto-tool-choice`. */
  readonly enableAutoToolChoice: boolean;
}

/** What a request is checked against; fixed for the life of a server. */
export interface RequestLimits {
  readonly dialect: Dialect;
  readonly tokenizer: Tokenizer;
  /** How the model writes conversations. Default ChatML. */
  readonly template?: ChatTemplate;
  /** Served names; the first answers requests that name none. */
  readonly models: readonly string[];
  /** Those of `models` that are further names of its first, which answers them. */
  readonly aliases?: readonly string[];
  /** Set: every documented check of vLLM's is made. */
  readonly strict?: Strictness;
  /** Fields that no server documents are ignored in the openai dialect too; else refused there. */
  readonly acceptsUnknownFields?: boolean;
  /** Prompt and output tokens together. */
  readonly maxModelLen: number;
  /** Tokens that the KV cache of one engine holds; prompt and output beyond it are refused. */
  readonly kvCapacityTokens?: number;
  /** Default 20. */
  readonly maxLogprobs?: number;
  /** The model thinks before it answers. */
  readonly isReasoning?: boolean;
  /** Prompt tokens of one image; undefined: the model takes no images. */
  readonly imageTokens?: number;
  /** Prompt tokens of one audio clip; undefined: the model takes no audio. */
  readonly audioTokens?: number;
  /**
   * Chance, in [0, 1], that `tool_choice: auto` calls a tool where no tool has just answered.
   * Default: it calls when a tool fits the user's message.
   */
  readonly toolCallProbability?: number;
  /** Texts of prompts are kept for a text model that reads them. */
  readonly keepsText?: boolean;
  /** Chance, in [0, 1], of each further call in one answer. Default 0.45. */
  readonly extraToolCallProbability?: number;
}
