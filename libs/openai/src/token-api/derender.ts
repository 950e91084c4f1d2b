import { asciiJson, type RawJson, textOfIds } from '@baton/text';
import type { AnswerHead } from '../answer/answer-head';
import type { Endpoint } from '../generation-request';
import type { FinalChoice } from '../answer/render-final';
import type { RequestLimits } from '../limits';
import { anyOf, arrayOf, BOOLEAN, INTEGER, OBJECT, recordOf, STRING } from '../request/shapes';
import { Is, validateBody, Within } from '../request/rules';
import { objectBody, servedModel } from '../request/parse-body';
import { TOKEN_IDS } from '../request/sampling.dto';
import { usageJson } from '../answer/usage';
import { valueError } from '../refusal/request-error';
import { vllmBody, vllmChoice } from '../answer/vllm-final-shape';

const REASONS = ['stop', 'length', 'abort', 'cache_threshold'];

const CHOICE = recordOf({
  index: { shape: INTEGER },
  token_ids: { shape: TOKEN_IDS, isRequired: true },
  finish_reason: { shape: STRING },
  logprobs: { shape: OBJECT },
  stop_reason: { shape: anyOf(STRING, INTEGER) },
  include_stop_str_in_output: { shape: BOOLEAN },
});

const GENERATED = recordOf({
  request_id: { shape: STRING },
  choices: { shape: arrayOf(CHOICE), isRequired: true },
});

interface GeneratedChoice {
  readonly index?: number | null;
  readonly token_ids: readonly number[];
  readonly finish_reason?: string | null;
  readonly logprobs?: object | null;
  readonly stop_reason?: string | number | null;
  readonly include_stop_str_in_output?: boolean | null;
}

interface Generated {
  readonly choices: readonly GeneratedChoice[];
}

class DerenderDto {
  @Is(STRING)
  model?: string | null;

  @Is(BOOLEAN)
  @Within((value: boolean) =>
    value ? { message: 'stream is not currently supported', named: true } : undefined,
  )
  stream?: boolean | null;
}

export class DerenderChatDto extends DerenderDto {
  @Is(GENERATED, { isRequired: true })
  generate_response!: Generated;

  @Is(INTEGER)
  prompt_tokens?: number | null;

  /**
   * The original request. Its tools and its reasoning would need a parser, which a vLLM server
   * without one also lacks.
   */
  @Is(OBJECT)
  chat_request?: object | null;
}

export class DerenderCompletionDto extends DerenderDto {
  @Is(arrayOf(GENERATED), { isRequired: true })
  generate_responses!: readonly Generated[];

  @Is(anyOf(INTEGER, arrayOf(INTEGER)))
  prompt_tokens?: number | readonly number[] | null;
}

type Head = Pick<AnswerHead, 'id' | 'created' | 'systemFingerprint'>;

/**
 * The answer of vLLM's POST /v1/chat/completions/derender: the chat answer with the tokens from
 * `/inference/v1/generate`. Throws `BatonError`.
 */
export function derenderChatBody(body: unknown, limits: RequestLimits, head: Head): string {
  const dto = validateBody(new DerenderChatDto(), objectBody(body));
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
  const dto = validateBody(new DerenderCompletionDto(), objectBody(body));
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
