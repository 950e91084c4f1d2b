import type { EndReason } from '@baton/contract';
import {
  checkedBody,
  type FinalContext,
  type FinalFacts,
  type FinishedSequence,
  type GenerationRequest,
  LogprobsWriter,
  objectBody,
  parseCompletion,
  ReportedTokens,
  type RequestLimits,
  SglangGenerateRequest,
  valueError,
} from '@baton/openai';
import {
  asciiJson,
  type OutputPlan,
  rawArray,
  rawIds,
  type RawJson,
  rawObject,
  visibleText,
} from '@baton/text';

const DIALECT = 'vllm';
/** SGLang's default of `max_new_tokens`. */
const DEFAULT_NEW_TOKENS = 128;

/** Sampling parameters that have another name in a completion. */
const RENAMED = {
  max_new_tokens: 'max_tokens',
  min_new_tokens: 'min_tokens',
  sampling_seed: 'seed',
} as const;
/** Sampling parameters with the same name in a completion. */
const SAME = [
  ...['temperature', 'top_p', 'top_k', 'min_p', 'frequency_penalty', 'presence_penalty', 'n'],
  ...['repetition_penalty', 'stop', 'stop_token_ids', 'ignore_eos', 'logit_bias'],
] as const;

/**
 * Checks a body of SGLang's POST /generate: `text` or `input_ids`, one or several. Throws
 * `BatonError` with the first error.
 */
export function parseSglangGenerate(body: unknown, limits: RequestLimits): GenerationRequest {
  const dto = checkedBody(SglangGenerateRequest, body, limits);
  const prompt = dto.text ?? dto.input_ids;
  if (prompt === undefined || prompt === null) {
    const message = 'Either text or input_ids should be provided.';
    throw valueError({ field: 'text', message });
  }
  const requested = {
    ...completionOf(dto.sampling_params ?? {}),
    prompt,
    stream: dto.stream ?? false,
  };
  const logprobs = dto.return_logprob === true ? { logprobs: dto.top_logprobs_num ?? 0 } : {};
  const named = dto.rid == null ? {} : { request_id: dto.rid };
  return parseCompletion({ ...requested, ...logprobs, ...named }, limits);
}

/** Whether the answer is a list: the prompts of the body are in a list. */
export function isSglangBatch(body: unknown): boolean {
  const { text, input_ids: ids } = objectBody(body);
  const given = text ?? ids;
  return Array.isArray(given) && typeof given[0] !== 'number';
}

function completionOf(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const same = SAME.map((name) => [name, params[name]] as const);
  const renamed = Object.entries(RENAMED).map(([from, to]) => [to, params[from]] as const);
  const present = [...same, ...renamed].filter(([, value]) => value != null);
  return { max_tokens: DEFAULT_NEW_TOKENS, ...Object.fromEntries(present) };
}

/** The output of one sequence so far. */
export class SglangOutput {
  private readonly reported: ReportedTokens;

  constructor(
    private readonly of: FinalContext,
    private readonly plan: OutputPlan,
    private readonly index: number,
  ) {
    this.reported = new ReportedTokens(plan, of.request, DIALECT);
  }

  /** The JSON of an event, with the whole text so far, as in SGLang. */
  json(count: number, reason: EndReason | undefined, facts: FinalFacts): RawJson {
    const { plan } = this;
    return rawObject({
      text: asciiJson(visibleText(this.of.options.tokenizer, plan, count)),
      output_ids: rawIds(plan.tokenIds.subarray(0, count)),
      meta_info: this.meta(count, reason, facts),
    });
  }

  private meta(count: number, reason: EndReason | undefined, facts: FinalFacts): RawJson {
    const { request, head } = this.of;
    const prompt = request.prompts[Math.floor(this.index / request.choices)];
    return rawObject({
      id: asciiJson(this.index === 0 ? head.id : `${head.id}_${this.index}`),
      finish_reason: reason === undefined ? 'null' : asciiJson(endOf(reason, this.plan, count)),
      prompt_tokens: String(prompt?.ids.length ?? 0),
      weight_version: '"default"',
      ...this.logprobs(count),
      completion_tokens: String(count),
      cached_tokens: String(facts.cachedTokens ?? 0),
    });
  }

  /**
   * Triples of log-probability, id and null. Those of the prompt are included only when the request
   * sets their start.
   */
  private logprobs(count: number): Record<string, RawJson> {
    const { request, options } = this.of;
    if (request.logprobs === undefined) return {};
    const writer = new LogprobsWriter(options.tokenizer, request.logprobs, false);
    const scored = writer.ofOutput({
      plan: this.plan,
      from: 0,
      to: count,
      reported: this.reported,
    });
    const triple = (logprob: number | undefined, id: number): string =>
      `[${logprob ?? null},${id},null]`;
    const tops = scored.map(({ list = [] }) =>
      rawArray(list.slice(0, request.logprobs).map((one) => triple(one.logprob, one.id))),
    );
    return {
      input_token_logprobs: '[]',
      output_token_logprobs: rawArray(scored.map(({ id, list }) => triple(list?.[0]?.logprob, id))),
      ...(request.logprobs > 0
        ? { input_top_logprobs: '[]', output_top_logprobs: rawArray(tops) }
        : {}),
    };
  }
}

function endOf(reason: EndReason, { stopReason, tokenIds }: OutputPlan, count: number): object {
  if (reason === 'stop')
    return { type: 'stop', matched: stopReason ?? tokenIds[count - 1] ?? null };
  if (reason === 'length') return { type: 'length', length: count };
  return { type: 'abort', message: 'The request was aborted.' };
}

/** The JSON body: one object, or a list of objects. */
export function renderSglangGenerate(
  context: FinalContext & { readonly isBatch: boolean },
  results: readonly FinishedSequence[],
  facts: FinalFacts = {},
): string {
  const outputs = results.map(({ plan, count, reason }, index) =>
    new SglangOutput(context, plan, index).json(count, reason, facts),
  );
  const isOne = !context.isBatch && outputs.length === 1;
  return isOne ? (outputs[0] ?? 'null') : rawArray(outputs);
}
