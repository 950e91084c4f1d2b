import type { Tokenizer } from '@baton/text';

/** `openai`: as api.openai.com answers. `vllm`: as a vLLM server does. */
export type Dialect = 'openai' | 'vllm';

/** What a request is checked against; fixed for the life of a server. */
export interface RequestLimits {
  readonly dialect: Dialect;
  readonly tokenizer: Tokenizer;
  /** Served names; the first answers requests that name none. */
  readonly models: readonly string[];
  /** Prompt and output tokens together. */
  readonly maxModelLen: number;
  /** Tokens that the KV cache of one engine holds; prompt and output beyond it are refused. */
  readonly kvCapacityTokens?: number;
  /** Default 20. */
  readonly maxLogprobs?: number;
}
