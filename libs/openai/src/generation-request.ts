import type { EngineParameters } from '@baton/contract';
import type { Steering, ToolOffer, StructuredText } from '@baton/text';

export type Endpoint = 'chat' | 'completions';

/**
 * A checked request, in one form for both endpoints and dialects. Sequence `i` is choice `i %
 * choices` of prompt `i / choices`.
 */
export interface GenerationRequest {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly prompts: readonly Prompt[];
  /** Decoded choices per prompt: `n`, or `best_of` where that is higher. */
  readonly choices: number;
  /** Choices per prompt in the answer (`n`): the most likely of the decoded ones. */
  readonly shownChoices: number;
  readonly stream: boolean;
  /** Types of tools that are left out, because only their vendor runs them. Default: none. */
  readonly skippedTools?: readonly string[];
  readonly includeUsage: boolean;
  /** Whether every chunk has usage (vLLM). */
  readonly continuousUsage: boolean;
  /** Undefined: the server's seed. */
  readonly seed: number | undefined;
  readonly minTokens: number;
  readonly ignoreEos: boolean;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly includeStop: boolean;
  readonly sampling: Sampling;
  /** Token preferences. Undefined when the request has none. */
  readonly steering: Steering | undefined;
  /** Constraint on the content. Undefined: free text. */
  readonly constraint: StructuredText | undefined;
  /** Functions that the answer can or must call. Undefined for a request without tools. */
  readonly tools: ToolOffer | undefined;
  /** The form of their calls in the answer. */
  readonly calls: CallShape;
  /** The reasoning before the answer. Undefined for an answer without reasoning. */
  readonly reasoning: ReasoningRequest | undefined;
  /**
   * Alternatives per token; 0: the token alone. Undefined when log-probabilities are not requested.
   */
  readonly logprobs: number | undefined;
  readonly promptLogprobs: number | undefined;
  /** Whether log-probabilities name tokens as `token_id:N`. */
  readonly tokensAsIds: boolean;
  /** Whether the prompt precedes the answer. */
  readonly echo: boolean;
  readonly returnTokenIds: boolean;
  readonly returnPromptText: boolean;
  /**
   * The field as the client sent it. `parseKvTransferParams`, `wantsRemoteDecode` and
   * `hasRemotePrefill` of the contract read it.
   */
  readonly kvTransferParams: Readonly<Record<string, unknown>> | undefined;
  /** Lower runs first. */
  readonly priority: number;
  /** Parameters for the engines. Undefined when the request has none. */
  readonly engineParameters: EngineParameters | undefined;
  /** The body's `request_id`. The header `X-Request-Id` takes precedence. */
  readonly requestId: string | undefined;
  /** Separates prefix caches: part of the salt of the block hashes. */
  readonly cacheSalt: string | undefined;
  /** The service tier in the answer, when the request has one. */
  readonly serviceTier: string | undefined;
  readonly user: string | undefined;
}

/** `tools`: `tool_calls`. `function`: the one `function_call` of the older fields. */
export interface CallShape {
  readonly kind: 'tools' | 'function';
  /** Finish reason of an answer with calls. An answer with a named function ends with `stop`. */
  readonly finishReason: 'tool_calls' | 'function_call' | 'stop';
}

export interface ReasoningRequest {
  /** Factor on the length of the reasoning; above 0. */
  readonly effort: number;
  readonly maxTokens: number;
  /** Whether the reasoning is shown. Hidden reasoning is still generated and counted. */
  readonly isShown: boolean;
}

export interface Prompt {
  readonly ids: Int32Array;
  /** Text shown by `echo`. Undefined without `echo`. */
  readonly echoText: string | undefined;
  /**
   * Output limit of this prompt, at least 1. With `hidesOutput`, one token is computed and not
   * shown.
   */
  readonly maxTokens: number;
  /** `echo` with `max_tokens: 0`. */
  readonly hidesOutput: boolean;
  /**
   * The messages in order. Undefined when texts are not kept. The prompt of a completion is one
   * message of a user.
   */
  readonly said?: readonly SaidMessage[] | undefined;
}

export interface SaidMessage {
  readonly role: string;
  readonly text: string;
}

/** Sampling parameters. They have no effect on simulated text; an executing engine gets them. */
export interface Sampling {
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly minP: number | undefined;
  readonly frequencyPenalty: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly repetitionPenalty: number | undefined;
}
