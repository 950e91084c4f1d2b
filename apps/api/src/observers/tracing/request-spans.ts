import type { BatonConfig } from '@baton/config';
import type { EndReason, ErrorCode } from '@baton/contract';
import type { AnswerHead, GenerationRequest } from '@baton/openai';
import {
  contextOfTraceparent,
  startTracing,
  timeOf,
  traceparentOf,
  type Tracing,
} from '@baton/telemetry';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type Attributes, type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Sequence } from '../../frames/sequence';
import type { Call } from '../../request/take/call';
import { CONFIG } from '../../tokens';

/** vLLM's name of the span of a request. */
const NAME = 'llm_request';

export interface RequestEnd {
  readonly reason: EndReason;
  readonly error?: ErrorCode | undefined;
}

/**
 * The span of each request, under the client's own when it sent a `traceparent`. Its name and attributes are those of vLLM (`vllm/tracing`): latencies in
 * seconds, as this process sees them. The engines' spans hang under it.
 */
@Injectable()
export class RequestSpans implements OnApplicationShutdown {
  private readonly tracing: Tracing | undefined;

  constructor(@Inject(CONFIG) config: BatonConfig) {
    this.tracing = startTracing(config, 'api');
  }

  async onApplicationShutdown(): Promise<void> {
    await this.tracing?.stop();
  }

  /** Undefined when nothing is traced. */
  open(call: Call, head: AnswerHead, request: GenerationRequest): RequestSpan | undefined {
    const { tracing } = this;
    if (tracing === undefined) return undefined;
    const { traceparent } = call.response.req.headers;
    const parent = contextOfTraceparent(typeof traceparent === 'string' ? traceparent : undefined);
    const startTime = timeOf(call.arrivalUs);
    const attributes = requestAttributes(head, request);
    const options = { kind: SpanKind.SERVER, startTime, attributes };
    return new RequestSpan(tracing.tracer.startSpan(NAME, options, parent), call.arrivalUs);
  }
}

export class RequestSpan {
  constructor(
    private readonly span: Span,
    private readonly arrivalUs: number,
  ) {}

  /** For those who work at the request. */
  get traceparent(): string {
    return traceparentOf(this.span.spanContext());
  }

  /** Called once. */
  ended(sequences: readonly Sequence[], { reason, error }: RequestEnd): void {
    const { span } = this;
    span.setAttributes(usageAttributes(sequences));
    span.setAttributes(this.latencies(sequences));
    span.setAttribute('baton.finish_reason', reason);
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end();
  }

  /** Of the sequence that was first in each. */
  private latencies(sequences: readonly Sequence[]): Attributes {
    const arrivalMs = this.arrivalUs / 1_000 - performance.timeOrigin;
    const scheduledMs = earliest(sequences.map((one) => one.scheduledMs));
    const firstMs = earliest(sequences.map((one) => one.firstTokenMs));
    const lastMs = Math.max(0, ...sequences.map((one) => one.lastTokenMs));
    const between = (fromMs: number, toMs: number): number | undefined =>
      fromMs > 0 && toMs > 0 ? Math.max(0, toMs - fromMs) / 1_000 : undefined;
    return present({
      'gen_ai.latency.time_in_queue': between(arrivalMs, scheduledMs),
      'gen_ai.latency.time_to_first_token': between(arrivalMs, firstMs),
      'gen_ai.latency.e2e': between(arrivalMs, performance.now()),
      'gen_ai.latency.time_in_model_prefill': between(scheduledMs, firstMs),
      'gen_ai.latency.time_in_model_decode': between(firstMs, lastMs),
      'gen_ai.latency.time_in_model_inference': between(scheduledMs, lastMs),
    });
  }
}

function requestAttributes(head: AnswerHead, request: GenerationRequest): Attributes {
  const { sampling, prompts, shownChoices } = request;
  return present({
    'gen_ai.response.model': head.model,
    'gen_ai.request.id': head.id,
    'gen_ai.request.temperature': sampling.temperature,
    'gen_ai.request.top_p': sampling.topP,
    'gen_ai.request.max_tokens': prompts[0]?.maxTokens,
    'gen_ai.request.n': shownChoices,
  });
}

function usageAttributes(sequences: readonly Sequence[]): Attributes {
  const sum = (of: (sequence: Sequence) => number): number =>
    sequences.reduce((total, sequence) => total + of(sequence), 0);
  return {
    'gen_ai.usage.num_sequences': sequences.length,
    'gen_ai.usage.prompt_tokens': sum(({ job }) => job.promptTokens),
    'gen_ai.usage.completion_tokens': sum(({ received }) => received),
  };
}

/** Instants that have not come are 0. */
function earliest(instantsMs: readonly number[]): number {
  const come = instantsMs.filter((ms) => ms > 0);
  return come.length === 0 ? 0 : Math.min(...come);
}

function present(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
