export type Endpoint = 'chat' | 'completions';

/** A checked request, the same for both endpoints and dialects. Sequence `i` is choice `i % choices` of prompt `i / choices`. */
export interface GenerationRequest {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly prompts: readonly Prompt[];
  /** `n`: choices per prompt. */
  readonly choices: number;
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
  /** Alternatives per token, 0 for the token alone; undefined: no log-probabilities. */
  readonly logprobs: number | undefined;
  readonly promptLogprobs: number | undefined;
  /** Tokens in log-probabilities as `token_id:N`. */
  readonly tokensAsIds: boolean;
  /** The prompt precedes the answer. */
  readonly echo: boolean;
  readonly returnTokenIds: boolean;
  /** As the client sent it; see `parseKvTransferParams`, `asksToHold` and `bringsKv` of the contract. */
  readonly kvTransferParams: Readonly<Record<string, unknown>> | undefined;
  /** Lower runs first. */
  readonly priority: number;
  /** Share of the prompt that must be cached, else the answer is empty and ends with `cache_threshold`. Undefined: the engine's. */
  readonly cacheHitThreshold: number | undefined;
  /** The body's `request_id`; the header `X-Request-Id` wins over it. */
  readonly requestId: string | undefined;
  /** Separates prefix caches: goes into the salt of the block hashes. */
  readonly cacheSalt: string | undefined;
  readonly user: string | undefined;
}

export interface Prompt {
  readonly ids: Int32Array;
  /** What `echo` shows, undefined without it. */
  readonly echoText: string | undefined;
  /** Resolved limit of this prompt, at least 1; with `hidesOutput` one token is computed and not shown. */
  readonly maxTokens: number;
  /** `echo` with `max_tokens: 0`. */
  readonly hidesOutput: boolean;
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
