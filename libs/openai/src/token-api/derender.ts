import { asciiJson, type RawJson, textOfIds } from '@baton/text';
import type { AnswerHead } from '../answer/answer-head';
import type { Endpoint } from '../generation-request';
import type { FinalChoice } from '../answer/render-final';
import type { RequestLimits } from '../limits';
import { IsArray, IsBoolean, IsDefined, IsInt, IsObject, IsString } from 'class-validator';
import { checkedBody } from '../body/checked-body';
import { Holds, Is, NAMED, Nested } from '../body/declare';
import { INTEGERS, STOP_REASON, TOKEN_IDS } from '../body/types';
import { servedModel } from '../request/parse-body';
import { usageJson } from '../answer/usage';
import { valueError } from '../refusal/request-error';
import { vllmBody, vllmChoice } from '../answer/vllm-final-shape';

const REASONS = ['stop', 'length', 'abort', 'cache_threshold'];

class GeneratedChoice {
  @IsInt() index?: number | null;
  @IsDefined() @Is(TOKEN_IDS) token_ids!: readonly number[];
  @IsString() finish_reason?: string | null;
  @IsObject() logprobs?: object | null;
  @Is(STOP_REASON) stop_reason?: string | number | null;
  @IsBoolean() include_stop_str_in_output?: boolean | null;
}

class Generated {
  @IsString() request_id?: string | null;

  @IsDefined()
  @IsArray()
  @Nested(GeneratedChoice, { each: true })
  choices!: readonly GeneratedChoice[];
}

class DerenderFields {
  @IsString() model?: string | null;

  @Holds(
    (value) => (value === true ? { message: 'stream is not currently supported' } : undefined),
    NAMED,
  )
  @IsBoolean()
  stream?: boolean | null;
}

/** Body of POST /v1/chat/completions/derender. */
export class DerenderChatRequest extends DerenderFields {
  @IsDefined() @Nested(Generated) generate_response!: Generated;
  @IsInt() prompt_tokens?: number | null;

  /**
   * The original request. Its tools and its reasoning would need a parser, which a vLLM server
   * without one also lacks.
   */
  @IsObject() chat_request?: object | null;
}

/** Body of POST /v1/completions/derender. */
export class DerenderCompletionRequest extends DerenderFields {
  @IsDefined()
  @IsArray()
  @Nested(Generated, { each: true })
  generate_responses!: readonly Generated[];

  @Is(INTEGERS) prompt_tokens?: number | readonly number[] | null;
}

type Head = Pick<AnswerHead, 'id' | 'created' | 'systemFingerprint'>;

/**
 * The answer of vLLM's POST /v1/chat/completions/derender: the chat answer with the tokens from
 * `/inference/v1/generate`. Throws `BatonError`.
 */
export function derenderChatBody(body: unknown, limits: RequestLimits, head: Head): string {
  const dto = checkedBody(DerenderChatRequest, body, limits);
  const answer = { model: servedModel(dto.model, limits), head, limits };
  return written('chat', {
    ...answer,
    generated: [dto.generate_response],
    promptTokens: counted([dto.prompt_tokens ?? 0]),
  });
}

/**
 * Like `derenderChatBody`, for a completion, which can have several prompts. Throws `BatonError`.
 */
export function derenderCompletionBody(body: unknown, limits: RequestLimits, head: Head): string {
  const dto = checkedBody(DerenderCompletionRequest, body, limits);
  const { prompt_tokens: counts = 0, generate_responses: generated } = dto;
  const promptTokens = counted([counts ?? 0].flat());
  const answer = { model: servedModel(dto.model, limits), head, limits };
  return written('completions', { ...answer, generated, promptTokens });
}

/** The sum. A negative count is valid in a request, as in vLLM, but no usage is negative. */
function counted(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + Math.max(0, count), 0);
}

interface Derendered {
  readonly model: string;
  readonly head: Head;
  readonly limits: RequestLimits;
  readonly generated: readonly Generated[];
  readonly promptTokens: number;
}

function written(endpoint: Endpoint, answer: Derendered): RawJson {
  const { head, model, limits, promptTokens } = answer;
  const choices = answer.generated
    .flatMap((one) => one.choices)
    .map((choice, index) => finalChoice(choice, index, limits));
  const completionTokens = answer.generated
    .flatMap((one) => one.choices)
    .reduce((sum, { token_ids: ids }) => sum + ids.length, 0);
  const options = { dialect: 'vllm', tokenizer: limits.tokenizer } as const;
  const parts = {
    request: { endpoint, serviceTier: undefined },
    head: { ...head, model },
    choices,
    usage: usageJson({ promptTokens, completionTokens }, options, false),
    kvTransferParams: undefined,
  };
  return vllmBody(
    parts,
    choices.map((choice) => vllmChoice(endpoint, choice)),
  );
}

function finalChoice(
  choice: GeneratedChoice,
  index: number,
  { tokenizer }: RequestLimits,
): FinalChoice {
  const { token_ids: ids, finish_reason: reason, logprobs } = choice;
  const foreign = ids.find((id) => !tokenizer.hasToken(id));
  if (foreign !== undefined) {
    const message = `Token id ${foreign} is out of vocabulary`;
    throw valueError({ field: 'token_ids', message });
  }
  const finishReason = reason ?? 'stop';
  if (!REASONS.includes(finishReason)) {
    const message = `finish_reason must be one of ${REASONS.join(', ')}.`;
    throw valueError({ field: 'finish_reason', message });
  }
  const stopReason = finishReason === 'stop' ? (choice.stop_reason ?? null) : null;
  const includeStop = choice.include_stop_str_in_output ?? false;
  return {
    index,
    text: asciiJson(textOfIds(tokenizer, ids, { stopReason, includeStop })),
    logprobs: asciiJson(logprobs ?? null),
    reason: finishReason as FinalChoice['reason'],
    stopReason,
    reasoning: undefined,
    toolCalls: undefined,
    functionCall: undefined,
    tokenIds: undefined,
    promptTokenIds: undefined,
    promptLogprobs: undefined,
    promptText: undefined,
  };
}
