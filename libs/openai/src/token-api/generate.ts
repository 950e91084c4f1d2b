import { isObject } from '@baton/kernel';
import { asciiJson, type OutputPlan } from '@baton/text';
import { ArrayMinSize, IsBoolean, IsDefined, IsObject, IsString } from 'class-validator';
import { checkedBody } from '../body/checked-body';
import { Is } from '../body/declare';
import { TOKEN_IDS } from '../body/types';
import {
  type FinalContext,
  type FinalFacts,
  type FinishedSequence,
  renderFinal,
} from '../answer/render-final';
import { parseCompletion } from '../request/parse-completion';
import { valueError } from '../refusal/request-error';
import type { GenerationRequest } from '../generation-request';
import type { RequestLimits } from '../limits';

/** Fields beside `sampling_params` with the same meaning as in a completion. */
const PASSED_ON = [
  'model',
  'cache_salt',
  'priority',
  'request_id',
  'kv_transfer_params',
  'stream',
  'stream_options',
] as const;

/** Body of POST /inference/v1/generate. */
export class GenerateRequest {
  @IsString() request_id?: string | null;
  @IsDefined() @ArrayMinSize(1) @Is(TOKEN_IDS) token_ids!: readonly number[];
  @IsDefined() @IsObject() sampling_params!: Readonly<Record<string, unknown>>;
  @IsBoolean() stream?: boolean | null;
}

/**
 * Checks a body of vLLM's POST /inference/v1/generate: token ids in, token ids out.
 * `sampling_params` are those of a completion. Throws `BatonError` with the first error.
 */
export function parseGenerate(body: unknown, limits: RequestLimits): GenerationRequest {
  const dto = checkedBody(GenerateRequest, body, limits);
  const { extra_args: extra, ...sampling } = dto.sampling_params;
  if (sampling['echo'] === true) {
    throw valueError({ field: 'sampling_params.echo', message: 'echo is not supported here' });
  }
  const nested = isObject(extra) ? { kv_transfer_params: extra['kv_transfer_params'] } : {};
  const passedOn = PASSED_ON.filter((name) => dto[name] !== undefined);
  const own = Object.fromEntries(passedOn.map((name) => [name, dto[name]]));
  return parseCompletion(
    { stream: false, ...sampling, ...nested, ...own, prompt: dto.token_ids },
    limits,
  );
}

/** The JSON body of its answer: the choices of a completion as ids only. */
export function renderGenerate(
  { request, head, options }: FinalContext,
  results: readonly FinishedSequence[],
  facts: FinalFacts = {},
): string {
  const asChat = { ...request, endpoint: 'chat', returnTokenIds: true } as const;
  const context = { request: asChat, head, options: { ...options, dialect: 'vllm' } as const };
  const whole = JSON.parse(renderFinal(context, results, facts)) as WholeAnswer;
  return asciiJson({
    request_id: head.id,
    model: whole.model,
    created: whole.created,
    choices: whole.choices.map(({ index, logprobs, finish_reason, token_ids, stop_reason }) => ({
      index,
      logprobs,
      finish_reason,
      token_ids,
      ...endedBy(request, stop_reason as OutputPlan['stopReason']),
    })),
    usage: whole.usage,
    prompt_logprobs: whole.prompt_logprobs,
    kv_transfer_params: whole.kv_transfer_params,
  });
}

/**
 * The stop string or stop token at which the text of these tokens ends. vLLM's answer does not name
 * it, so its derender endpoint shows text that a completion cuts off.
 */
export function endedBy(
  { includeStop }: GenerationRequest,
  stopReason: OutputPlan['stopReason'],
): { readonly stop_reason?: string | number; readonly include_stop_str_in_output?: true } {
  if (stopReason === null) return {};
  return {
    stop_reason: stopReason,
    ...(includeStop ? { include_stop_str_in_output: true } : {}),
  };
}

interface WholeAnswer {
  readonly model: string;
  readonly created: number;
  readonly choices: readonly Readonly<Record<string, unknown>>[];
  readonly usage: unknown;
  readonly prompt_logprobs: unknown;
  readonly kv_transfer_params: unknown;
}
