import { hashString } from '@baton/kernel';
import type { Tokenizer } from '@baton/text';
import type { Dialect } from '../refusal/dialect';
import type { Endpoint } from '../generation-request';

/**
 * The identity of an answer. It is fixed at admission and equal in all chunks, across hand-over and
 * retry.
 */
export interface AnswerHead {
  readonly id: string;
  /** Seconds since the Unix epoch. */
  readonly created: number;
  readonly model: string;
  readonly systemFingerprint: string;
}

export interface AnswerOptions {
  readonly dialect: Dialect;
  readonly tokenizer: Tokenizer;
  /** vLLM's `--enable-prompt-tokens-details`. OpenAI always includes these details. */
  readonly promptTokensDetails?: boolean;
}

/** `cmpl-` or `chatcmpl-`, followed by the request's id. */
export function answerId(endpoint: Endpoint, requestId: string): string {
  return `${endpoint === 'chat' ? 'chatcmpl' : 'cmpl'}-${requestId}`;
}

/**
 * Identifies a server's configuration: `vllm-0.27.0-3f2a9c1b` or `fp_3f2a9c1b04`. Equal
 * configurations have equal fingerprints.
 */
export function systemFingerprint(
  dialect: Dialect,
  version: string,
  configuration: string,
): string {
  const digest = hashString(configuration).toString(16).padStart(14, '0');
  return dialect === 'vllm' ? `vllm-${version}-${digest.slice(-8)}` : `fp_${digest.slice(-10)}`;
}
