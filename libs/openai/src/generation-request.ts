import type { EngineParameters } from '@baton/contract';
import type { Steering, ToolOffer } from '@baton/text';
import type { StructuredText } from '@baton/structured';

export type Endpoint = 'chat' | 'completions';

/**
 * A checked request, the same for both endpoints and dialects. Sequence `i` is choice `i % choices`
 * of prompt `i / choices`.
 */
export interface GenerationRequest {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly prompts: readonly Prompt[];
  /** Choices per prompt that are decoded: `n`, or `best_of` where that is more. */
  readonly choices: number;
  /** `n`: choices per prompt that the answer shows, the most likely of the decoded ones. */
  readonly shownChoices: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Usage in every chunk (vLLM). */
  readonly continuousUsage: boolean;
  /** Undefined: the server's. */
  readonly seed: number | undefined;
  readonly minTokens: number;
  readonly ignoreEos: boolean;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly includeStop: boolean;
  readonly sampling: Sampling;
  /** Token preferences; undefined for none. */
  readonly steering: Steering | undefined;
  /** Confines the content; undefined: free text. */
  readonly constraint: StructuredText | undefined;
  /** Functions that the answer may or must call, if any. */
  readonly tools: ToolOffer | undefined;
  /** The form of their calls in the answer. */
  readonly calls: CallShape;
  /** The reasoning before the answer; undefined: none. */
  readonly reasoning: ReasoningRequest | undefined;
  /** Alternatives per token, 0 for the token alone; undefined: no log-probabilities. */
  readonly logprobs: number | undefined;
  readonly promptLogprobs: number | undefined;
  /** Tokens in log-probabilities as `token_id:N`. */
  readonly tokensAsIds: boolean;
  /** The prompt precedes the answer. */
  readonly echo: boolean;
  readonly returnTokenIds: boolean;
  readonly returnPromptText: boolean;
  /**
   * As the client sent it; see `parseKvTransferParams`, `asksToHold` and `bringsKv` of the
   * contract.
   */
  readonly kvTransferParams: Readonly<Record<string, unknown>> | undefined;
  /** Lower runs first. */
  readonly priority: number;
  /** Undefined: no parameters for the engines. */
  readonly engineParameters: EngineParameters | undefined;
  /** The body's `request_id`; the header `X-Request-Id` wins over it. */
  readonly requestId: string | undefined;
  /** Separates prefix caches: part of the salt of the block hashes. */
  readonly cacheSalt: string | undefined;
  /** The tier that answers, when the client asked for one. */
  readonly serviceTier: string | undefined;
  readonly user: string | undefined;
}

/** `tools`: `tool_calls`. `function`: the one `function_call` of the older fields. */
export interface CallShape {
  readonly kind: 'tools' | 'function';
  /** Finish reason of an answer with calls; a named function ends like any answer. */
  readonly finishReason: 'tool_calls' | 'function_call' | 'stop';
}

export interface ReasoningRequest {
  /** Multiplies the natural length, above 0. */
  readonly effort: number;
  readonly maxTokens: number;
  /** False when it is generated and counted but not shown. */
  readonly isShown: boolean;
}

export interface Prompt {
  readonly ids: Int32Array;
  /** What `echo` shows, undefined without it. */
  readonly echoText: string | undefined;
  /**
   * Resolved limit of this prompt, at least 1; with `hidesOutput` one token is computed and not
   * shown.
   */
  readonly maxTokens: number;
  /** `echo` with `max_tokens: 0`. */
  readonly hidesOutput: boolean;
  /**
   * The messages, in order; undefined unless texts are kept. A completion's prompt is a user's
   * message.
   */
  readonly said?: readonly SaidMessage[] | undefined;
}

export interface SaidMessage {
  readonly role: string;
  readonly text: string;
}

/** Has no effect on simulated text; an executing engine gets it. */
export interface Sampling {
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly minP: number | undefined;
  readonly frequencyPenalty: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly repetitionPenalty: number | undefined;
}
