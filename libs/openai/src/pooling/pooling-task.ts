import { asciiJson, rawArray, type RawJson, rawObject } from '@baton/text';
import type { AnswerHead } from '../answer/answer-head';
import type { Dialect } from '../refusal/dialect';
import type { GenerationRequest } from '../generation-request';
import type { RequestLimits } from '../limits';
import type { EmbeddingSpace } from './text-embedding';

/** The inputs of the answers other than the request. */
export interface PoolingContext {
  readonly limits: RequestLimits;
  readonly space: EmbeddingSpace;
}

/** Prompts to compute, and the function that then writes the answer. */
export interface PoolingTask {
  readonly request: GenerationRequest;
  readonly idPrefix: 'embd' | 'pooling' | 'classify' | 'score';
  /** The JSON body. ASCII. */
  readonly render: (head: AnswerHead) => string;
}

/** A list of results in the dialect's envelope. OpenAI's has neither `id` nor `created`. */
export function resultList(
  head: AnswerHead,
  results: readonly RawJson[],
  { dialect, promptTokens }: { readonly dialect: Dialect; readonly promptTokens: number },
): string {
  const usage = poolingUsage(promptTokens, dialect);
  const data = rawArray(results);
  const model = asciiJson(head.model);
  if (dialect === 'openai') return rawObject({ object: '"list"', data, model, usage });
  return rawObject({
    id: asciiJson(head.id),
    object: '"list"',
    created: String(head.created),
    model,
    data,
    usage,
  });
}

function poolingUsage(promptTokens: number, dialect: Dialect): RawJson {
  const counts = { prompt_tokens: String(promptTokens), total_tokens: String(promptTokens) };
  if (dialect === 'openai') return rawObject(counts);
  return rawObject({ ...counts, completion_tokens: '0', prompt_tokens_details: 'null' });
}

export function tokensIn(prompts: readonly Int32Array[]): number {
  return prompts.reduce((sum, { length }) => sum + length, 0);
}
