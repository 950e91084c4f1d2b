import type { BatonError, EndReason } from '@baton/contract';
import { assert } from '@baton/kernel';
import { asciiJson, type OutputPlan, rawArray, rawIds, type RawJson, rawObject } from '@baton/text';
import type { AnswerHead, AnswerOptions } from '../answer/answer-head';
import type { GenerationRequest } from '../generation-request';
import { finishReasonOf } from '../answer/finish-reason';
import { LogprobsWriter } from '../answer/logprobs-json';
import { renderStreamError } from '../refusal/render-error';
import { ReportedTokens } from '../answer/reported-tokens';
import { usageJson } from '../answer/usage';
import { endedBy } from './generate';

const DONE = 'data: [DONE]\n\n';
const DIALECT = 'vllm';

/**
 * The stream of vLLM's POST /inference/v1/generate: new ids, one frame per step, nulls included.
 */
export class StreamedGenerate {
  readonly sequences: readonly GenerateSequence[];

  /** @param plans one per sequence */
  constructor(
    private readonly request: GenerationRequest,
    private readonly head: AnswerHead,
    plans: readonly OutputPlan[],
    private readonly options: AnswerOptions,
  ) {
    this.sequences = plans.map((plan, index) => new GenerateSequence(this, { plan, index }));
  }

  open(): string {
    return '';
  }

  finishStream({ cachedTokens }: { readonly cachedTokens?: number } = {}): string {
    if (!this.request.includeUsage) return DONE;
    const usage = {
      promptTokens: this.request.prompts.reduce((sum, { ids }) => sum + ids.length, 0),
      completionTokens: this.sequences.reduce((sum, { received }) => sum + received, 0),
      cachedTokens,
    };
    return this.frame([], usageJson(usage, { ...this.options, dialect: DIALECT }, true)) + DONE;
  }

  fail(error: BatonError): string {
    return renderStreamError(error, DIALECT) + DONE;
  }

  /** One event with these choices. */
  frame(choices: readonly RawJson[], usage: RawJson = 'null'): string {
    const event = rawObject({
      request_id: asciiJson(this.head.id),
      choices: rawArray(choices),
      usage,
    });
    return `data: ${event}\n\n`;
  }

  /** A choice with tokens `[from, to)` of its sequence. */
  choice({ plan, index }: Planned, { from, to }: Span, reason?: EndReason): RawJson {
    const { request } = this;
    const reported = new ReportedTokens(plan, request, DIALECT);
    const ended = reason === 'stop' ? endedBy(request, plan.stopReason) : {};
    return rawObject({
      index: String(index),
      logprobs: this.logprobs(plan, reported, { from, to }),
      finish_reason:
        reason === undefined ? 'null' : asciiJson(finishReasonOf(request, plan, reason)),
      token_ids: rawIds(reported.ids(plan, from, to)),
      routed_experts: 'null',
      ...Object.fromEntries(Object.entries(ended).map(([name, value]) => [name, asciiJson(value)])),
    });
  }

  private logprobs(plan: OutputPlan, reported: ReportedTokens, { from, to }: Span): RawJson {
    const { logprobs, tokensAsIds } = this.request;
    if (logprobs === undefined || from === to) return 'null';
    const writer = new LogprobsWriter(this.options.tokenizer, logprobs, tokensAsIds);
    return writer.chat(writer.ofOutput({ plan, from, to, reported }));
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Planned {
  readonly plan: OutputPlan;
  readonly index: number;
}

class GenerateSequence {
  /** Tokens received so far. */
  received = 0;

  constructor(
    private readonly stream: StreamedGenerate,
    private readonly planned: Planned,
  ) {}

  tokens(from: number, count: number): string {
    this.received = from + count;
    if (count === 0) return '';
    return this.stream.frame([this.stream.choice(this.planned, { from, to: from + count })]);
  }

  finishSequence(reason: EndReason, from: number, count: number): string {
    assert(count === 0 || from === this.received, 'tokens come in order');
    this.received = from + count;
    return this.stream.frame([
      this.stream.choice(this.planned, { from, to: this.received }, reason),
    ]);
  }
}
