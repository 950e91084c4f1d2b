import { type BatonConfig, modelOf } from '@baton/config';
import type { PlanContext, RequestLimits } from '@baton/openai';
import type { TextParts } from './text-setup';

/** The name under which the model is served. */
export function servedName({ servedModelName, model }: BatonConfig): string {
  return servedModelName ?? model;
}

/** Prompt and output tokens of one sequence at most. */
export function maxModelLenOf({ maxModelLen, model }: BatonConfig): number {
  return maxModelLen ?? modelOf(model).maxContext;
}

/** The limits that hold for the life of a process. */
export function fixedLimits(
  config: BatonConfig,
  { tokenizer, template }: TextParts,
  keepsText: boolean,
): RequestLimits {
  return {
    dialect: config.dialect,
    tokenizer,
    template,
    models: [servedName(config)],
    maxModelLen: maxModelLenOf(config),
    keepsText,
    ...modelAbilities(config),
  };
}

/** What answers depend on besides the request. */
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
  return {
    ...(config.strict ? { strict: { toolCallParser, enableAutoToolChoice } } : {}),
    isReasoning: config.reasoning,
    toolCallProbability: config.toolCallProbability,
    extraToolCallProbability: config.toolCallExtraCallProbability,
    ...(imageTokens === undefined ? {} : { imageTokens }),
    ...(audioTokens === undefined ? {} : { audioTokens }),
  };
}
