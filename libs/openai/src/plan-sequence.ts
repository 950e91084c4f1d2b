import { assert } from '@baton/kernel';
import {
  type AnswerSource,
  type ChatTemplate,
  type OutputLengthModel,
  type OutputPlan,
  type PlanInput,
  planOutput,
  type Tokenizer,
  type WordChoice,
} from '@baton/text';
import type { GenerationRequest, ReasoningRequest } from './generation-request';

/** The inputs of an answer other than the request. */
export interface PlanContext {
  readonly tokenizer: Tokenizer;
  /** The model's format of reasoning and calls. Default: ChatML. */
  readonly template?: ChatTemplate;
  /** The source of words in simulated text. Default: sentences. */
  readonly words?: WordChoice;
  /** Seed for requests without one. */
  readonly seed: number;
  /** Length of an answer, in tokens, without limits. */
  readonly lengthModel: OutputLengthModel;
  /** Length of the reasoning before it, in tokens. Default: that of answers. */
  readonly reasoningLengthModel?: OutputLengthModel;
}

export interface SequencePlace {
  /** Sequence index: choice `index % choices` of prompt `index / choices`. */
  readonly index: number;
  /** Most output tokens besides the request's own limit. */
  readonly room?: number;
  /** Whether this is the prefill leg of an external router: one token, which no client reads. */
  readonly isPrefillLeg?: boolean;
  /** Answers that the user wrote for this prompt. Undefined: all answers are simulated. */
  readonly answers?: AnswerSource | undefined;
}

/** The whole output of one sequence of a request. */
export function planSequence(
  request: GenerationRequest,
  place: SequencePlace,
  context: PlanContext,
): OutputPlan {
  const { index, room = Infinity } = place;
  const prompt = request.prompts[Math.floor(index / request.choices)];
  assert(prompt !== undefined, 'every sequence belongs to a prompt');
  const own = {
    tokenizer: context.tokenizer,
    template: context.template,
    words: context.words,
    promptIds: prompt.ids,
    model: request.model,
    seed: request.seed ?? context.seed,
    choice: index % request.choices,
    lengthModel: context.lengthModel,
  };
  if (place.isPrefillLeg === true) return planOutput({ ...own, ...ONE_TOKEN });
  return planOutput({
    maxTokens: Math.min(prompt.maxTokens, room),
    minTokens: request.minTokens,
    ignoreEos: request.ignoreEos,
    stop: request.stop,
    stopTokenIds: request.stopTokenIds,
    includeStop: request.includeStop,
    steering: request.steering,
    constraint: request.constraint,
    tools: request.tools,
    reasoning: request.reasoning && reasoningOf(request.reasoning, context),
    answers: place.answers,
    ...own,
  });
}

function reasoningOf(reasoning: ReasoningRequest, context: PlanContext): PlanInput['reasoning'] {
  const lengthModel = context.reasoningLengthModel ?? context.lengthModel;
  return { lengthModel, effort: reasoning.effort, maxTokens: reasoning.maxTokens };
}

/** Limits of a prefill leg: one sampled token, end reason `length`. */
const ONE_TOKEN = {
  maxTokens: 1,
  minTokens: 0,
  ignoreEos: true,
  stop: [],
  stopTokenIds: [],
  includeStop: false,
} as const;
