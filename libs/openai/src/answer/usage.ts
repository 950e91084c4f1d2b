import { type RawJson, rawObject } from '@baton/text';
import type { AnswerOptions } from './answer-head';

export interface Usage {
  readonly promptTokens: number;
  /** Sampled tokens, including those of stop strings. */
  readonly completionTokens: number;
  /** The reasoning part of the completion tokens. */
  readonly reasoningTokens?: number;
  /**
   * Prompt tokens that an engine took from a cache. Undefined when the configuration hides them.
   */
  readonly cachedTokens?: number | undefined;
}

/** Usage of a whole answer. vLLM writes nulls in a JSON answer and omits them in a stream. */
export function usageJson(usage: Usage, options: AnswerOptions, isStream: boolean): RawJson {
  if (options.dialect === 'openai') return openaiUsage(usage);
  const { cachedTokens } = usage;
  const hasDetails = options.promptTokensDetails === true && cachedTokens !== undefined;
  const details = { cached_tokens: String(cachedTokens) };
  const nulls = { created_cache_tokens: 'null', multimodal_tokens: 'null' };
  const withDetails = rawObject(isStream ? details : { ...details, ...nulls });
  const none = isStream ? undefined : 'null';
  return rawObject({
    ...vllmCounts(usage),
    prompt_tokens_details: hasDetails ? withDetails : none,
  });
}

/** Usage so far, for `continuous_usage_stats`. */
export function runningUsageJson(usage: Usage, options: AnswerOptions): RawJson {
  return options.dialect === 'openai'
    ? rawObject(openaiCounts(usage))
    : rawObject(vllmCounts(usage));
}

type OpenaiCounts = Record<'prompt_tokens' | 'completion_tokens' | 'total_tokens', RawJson>;

function vllmCounts({ promptTokens, completionTokens }: Usage): Record<string, RawJson> {
  return {
    prompt_tokens: String(promptTokens),
    total_tokens: String(promptTokens + completionTokens),
    completion_tokens: String(completionTokens),
  };
}

function openaiCounts({ promptTokens, completionTokens }: Usage): OpenaiCounts {
  return {
    prompt_tokens: String(promptTokens),
    completion_tokens: String(completionTokens),
    total_tokens: String(promptTokens + completionTokens),
  };
}

function openaiUsage(usage: Usage): RawJson {
  const counts = openaiCounts(usage);
  return rawObject({
    prompt_tokens: counts.prompt_tokens,
    completion_tokens: counts.completion_tokens,
    total_tokens: counts.total_tokens,
    prompt_tokens_details: rawObject({
      cached_tokens: String(usage.cachedTokens ?? 0),
      audio_tokens: '0',
    }),
    completion_tokens_details: rawObject({
      reasoning_tokens: String(usage.reasoningTokens ?? 0),
      audio_tokens: '0',
      accepted_prediction_tokens: '0',
      rejected_prediction_tokens: '0',
    }),
  });
}
