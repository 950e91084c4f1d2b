import { outside } from '../refusal/openai-faults';
import { type RequestError, valueError } from '../refusal/request-error';
import type { GenerationRequest, Sampling } from '../generation-request';
import type { RequestLimits } from '../limits';
import { engineParametersOf } from '../body/for-engine';
import type { SamplingFields } from './sampling.dto';
import { checkVocabulary, steeringOf } from './steering';
import { constraintOf } from './structured-output';

const DEFAULT_MAX_LOGPROBS = 20;
const GREEDY_BELOW = 1e-5;
/** In OpenAI's openapi.yaml, CreateChatCompletionRequest and CreateCompletionRequest. */
const MAX_OPENAI_CHOICES = 128;
const MAX_OPENAI_BEST_OF = 20;

/** The part of a request that is equal for both endpoints. */
export type SamplingPart = Omit<
  GenerationRequest,
  | 'endpoint'
  | 'model'
  | 'prompts'
  | 'logprobs'
  | 'promptLogprobs'
  | 'choices'
  | 'tools'
  | 'calls'
  | 'reasoning'
  | 'returnPromptText'
>;

export function samplingPart(dto: SamplingFields, limits: RequestLimits): SamplingPart {
  const shownChoices = dto.n ?? 1;
  checkChoices(dto, shownChoices, limits);
  const stopTokenIds = dto.stop_token_ids ?? undefined;
  if (stopTokenIds !== undefined) {
    checkVocabulary('stop_token_ids', stopTokenIds, limits.tokenizer);
  }
  const steered = dto.logit_bias ?? dto.allowed_token_ids ?? dto.bad_words ?? undefined;
  const confined =
    dto.response_format ??
    dto.structured_outputs ??
    dto.guided_json ??
    dto.guided_regex ??
    dto.guided_choice ??
    dto.guided_grammar ??
    undefined;
  const tier = dto.service_tier ?? undefined;
  const includeUsage = dto.stream_options?.include_usage ?? false;
  return {
    shownChoices,
    stream: dto.stream ?? false,
    includeUsage,
    continuousUsage: includeUsage && (dto.stream_options?.continuous_usage_stats ?? false),
    seed: dto.seed === -1 ? undefined : (dto.seed ?? undefined),
    minTokens: dto.min_tokens ?? 0,
    ignoreEos: dto.ignore_eos ?? false,
    stop: typeof dto.stop === 'string' ? [dto.stop] : (dto.stop ?? []),
    stopTokenIds: stopTokenIds ?? [],
    includeStop: dto.include_stop_str_in_output ?? false,
    sampling: samplingOf(dto),
    steering: steered === undefined ? undefined : steeringOf(dto, limits),
    constraint: confined === undefined ? undefined : constraintOf(dto),
    tokensAsIds: dto.return_tokens_as_token_ids ?? false,
    echo: dto.echo ?? false,
    returnTokenIds: dto.return_token_ids ?? false,
    kvTransferParams: dto.kv_transfer_params ?? undefined,
    priority: dto.priority ?? 0,
    engineParameters: engineParametersOf(dto),
    requestId: dto.request_id ?? undefined,
    cacheSalt: dto.cache_salt ?? undefined,
    // The default tier answers `auto`.
    serviceTier: tier === 'auto' ? 'default' : tier,
    user: dto.user ?? undefined,
  };
}

/** Refuses more alternatives than the server's maximum. -1 stands for the whole vocabulary. */
export function checkLogprobs(
  requested: { readonly field: string; readonly kind: 'sample' | 'prompt'; readonly count: number },
  limits: RequestLimits,
): void {
  const { field, kind } = requested;
  const most = limits.maxLogprobs ?? DEFAULT_MAX_LOGPROBS;
  if (requested.count < -1) {
    const message = `${field} must be non-negative or -1, got ${requested.count}.`;
    const beyond = outside('integer', requested.count, [0, most]);
    throw valueError({ field, message, named: true, beyond });
  }
  const count = requested.count === -1 ? limits.tokenizer.vocabSize : requested.count;
  if (count <= most) return;
  const message =
    `Requested ${kind} logprobs of ${count}, which is greater than max allowed: ` + `${most}`;
  const beyond = outside('integer', requested.count, [0, most]);
  throw valueError({ field, message, named: true, beyond });
}

/** Checks `min_tokens` against the limit of the request. Throws `BatonError`. */
export function checkMinTokens(minTokens: number, maxTokens: number): void {
  if (minTokens <= maxTokens) return;
  const message =
    `min_tokens must be less than or equal to max_tokens=${maxTokens}, got ` + `${minTokens}.`;
  throw valueError({ field: 'min_tokens', message });
}

/**
 * OpenAI serves fewer choices than vLLM, which refuses several greedy ones, because they would all
 * be equal.
 */
function checkChoices(dto: SamplingFields, choices: number, limits: RequestLimits): void {
  if (limits.dialect === 'openai') {
    if (choices > MAX_OPENAI_CHOICES) throw tooMany('n', choices, MAX_OPENAI_CHOICES);
    const decoded = dto.best_of ?? 1;
    if (decoded > MAX_OPENAI_BEST_OF) throw tooMany('best_of', decoded, MAX_OPENAI_BEST_OF);
  }
  const isGreedy = dto.temperature !== undefined && dto.temperature !== null;
  const isChecked = limits.dialect === 'vllm' || limits.strict !== undefined;
  if (!isChecked || !isGreedy || dto.temperature! >= GREEDY_BELOW) return;
  if (choices === 1) return;
  const message = `n must be 1 when using greedy sampling, got ${choices}.`;
  throw valueError({ field: 'n', message });
}

function tooMany(field: string, got: number, bound: number): RequestError {
  const message = `${field} must be at most ${bound}, got ${got}.`;
  return valueError({ field, message, beyond: outside('integer', got, [1, bound]) });
}

function samplingOf(dto: SamplingFields): Sampling {
  return {
    temperature: dto.temperature ?? undefined,
    topP: dto.top_p ?? undefined,
    topK: dto.top_k ?? undefined,
    minP: dto.min_p ?? undefined,
    frequencyPenalty: dto.frequency_penalty ?? undefined,
    presencePenalty: dto.presence_penalty ?? undefined,
    repetitionPenalty: dto.repetition_penalty ?? undefined,
  };
}
