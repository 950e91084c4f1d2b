import type { Dialect } from './refusal/dialect';
import type { ChatTemplate, Tokenizer } from '@baton/text';
import type { UnsupportedTools } from './request/hosted-tools';

/** The start-up flags of a vLLM server that determine which requests it refuses. */
export interface Strictness {
  /** `--tool-call-parser`. */
  readonly toolCallParser: string | undefined;
  /** `--enable-auto-tool-choice`. */
  readonly enableAutoToolChoice: boolean;
}

/** The limits against which requests are checked; fixed for the life of a server. */
export interface RequestLimits {
  readonly dialect: Dialect;
  readonly tokenizer: Tokenizer;
  /** Format of conversations. Default: ChatML. */
  readonly template?: ChatTemplate;
  /** Served names. The first is in answers to requests without a model. */
  readonly models: readonly string[];
  /** Members of `models` that are aliases of the first. */
  readonly aliases?: readonly string[];
  /** When set, all documented checks of vLLM apply. */
  readonly strict?: Strictness;
  /**
   * Whether the openai dialect ignores fields that no server documents. Default: it refuses them.
   */
  readonly acceptsUnknownFields?: boolean;
  /** Most prompt and output tokens together. */
  readonly maxModelLen: number;
  /**
   * Tokens in the KV cache of one engine. A request whose prompt and output exceed it is refused.
   */
  readonly kvCapacityTokens?: number;
  /** Default 20. */
  readonly maxLogprobs?: number;
  /** Whether the model reasons before it answers. */
  readonly isReasoning?: boolean;
  /** Prompt tokens of one image; undefined: the model takes no images. */
  readonly imageTokens?: number;
  /** Prompt tokens of one audio clip; undefined: the model takes no audio. */
  readonly audioTokens?: number;
  /**
   * Chance, in [0, 1], that `tool_choice: auto` calls a tool, except right after a tool's result.
   * Default: it calls when a tool fits the user's message.
   */
  readonly toolCallProbability?: number;
  /** Whether the texts of prompts are kept, for a text model that reads them. */
  readonly keepsText?: boolean;
  /** Default: skip. */
  readonly unsupportedTools?: UnsupportedTools;
  /** Chance, in [0, 1], of each further call in one answer. Default: 0.45. */
  readonly extraToolCallProbability?: number;
}
