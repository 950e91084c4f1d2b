import { type BatonConfig, modelOf, servedNamesOf } from '@baton/config';
import type { PlanContext, RequestLimits } from '@baton/openai';
import type { TextParts } from './text-setup';

/** Limit of prompt and output tokens of one sequence together. */
export function maxModelLenOf({ maxModelLen, model }: BatonConfig): number {
  return maxModelLen ?? modelOf(model).maxContext;
}

/** The limits that stay the same for the life of a process. */
export function fixedLimits(
  config: BatonConfig,
  { tokenizer, template }: TextParts,
  keepsText: boolean,
): RequestLimits {
  const names = servedNamesOf(config);
  const [, ...aliases] = names;
  return {
    dialect: config.dialect,
    tokenizer,
    template,
    models: names,
    aliases,
    maxModelLen: maxModelLenOf(config),
    keepsText,
    unsupportedTools: config.unsupportedTools,
    ...modelAbilities(config),
  };
}

/** The state besides the request on which an answer depends. */
export function planContext(config: BatonConfig, parts: TextParts): PlanContext {
  const { tokenizer, template, words, lengths } = parts;
  return {
    tokenizer,
    template,
    words,
    seed: config.seed,
    lengthModel: lengths.answer,
    reasoningLengthModel: lengths.reasoning,
  };
}

function modelAbilities(config: BatonConfig): Partial<RequestLimits> {
  const { imageTokens, audioTokens, toolCallParser, enableAutoToolChoice } = config;
  const { toolCallProbability } = config;
  return {
    ...(config.strict ? { strict: { toolCallParser, enableAutoToolChoice } } : {}),
    acceptsUnknownFields: config.acceptUnknownFields,
    isReasoning: config.reasoning,
    ...(toolCallProbability === undefined ? {} : { toolCallProbability }),
    extraToolCallProbability: config.toolCallExtraCallProbability,
    ...(imageTokens === 0 ? {} : { imageTokens }),
    ...(audioTokens === undefined ? {} : { audioTokens }),
  };
}
