import { processMsOf } from '@baton/clock';
import type { AnswerHead, GenerationRequest } from '@baton/openai';
import {
  contextOfTraceparent,
  startTracing,
  timeOf,
  traceparentOf,
  type Tracing,
} from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { type Attributes, type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { Config } from '../../tokens';
import type {
  End,
  ObservedCall,
  ObservedRequest,
  ObservedSequence,
  RequestObserver,
} from '../port/port';

/** vLLM's name of the span of a request. */
const NAME = 'llm_request';

/**
 * The span of each request, under the client's own when it sent a `traceparent`. Its name and
 * attributes are those of vLLM (`vllm/tracing`): latencies in seconds, as this process sees them.
 * The engines' spans are its children.
 */
@Injectable()
export class RequestSpans implements RequestObserver {
  readonly isOn: boolean;
  private readonly tracing: Tracing | undefined;
  private readonly open = new WeakMap<ObservedCall, Span>();

  constructor(config: Config) {
    this.tracing = startTracing(config, 'api');
    this.isOn = this.tracing !== undefined;
  }

  async stop(): Promise<void> {
    await this.tracing?.stop();
  }

  /**
   * Opens the span of a call, which ends with its request. Returns the W3C trace context for the
   * jobs of the request; undefined when nothing is traced.
   */
  begin(call: ObservedCall, head: AnswerHead, request: GenerationRequest): string | undefined {
    const { tracing } = this;
    if (tracing === undefined) return undefined;
    const { traceparent } = call.response.req.headers;
    const parent = contextOfTraceparent(typeof traceparent === 'string' ? traceparent : undefined);
    const startTime = timeOf(call.arrivalUs);
    const attributes = requestAttributes(head, request);
    const options = { kind: SpanKind.SERVER, startTime, attributes };
    const span = tracing.tracer.startSpan(NAME, options, parent);
    this.open.set(call, span);
    return traceparentOf(span.spanContext());
  }

  closed({ call, sequences }: ObservedRequest, { reason, error }: End): void {
    const span = this.open.get(call);
    if (span === undefined) return;
    span.setAttributes(usageAttributes(sequences));
    span.setAttributes(latencyAttributes(call.arrivalUs, sequences));
    span.setAttribute('baton.finish_reason', reason);
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end();
  }
}

/** Each latency is that of the sequence that reached the event first. */
function latencyAttributes(arrivalUs: number, sequences: readonly ObservedSequence[]): Attributes {
  const arrivalMs = processMsOf(arrivalUs);
  const histories = sequences.map(({ history }) => history);
  const scheduledMs = earliest(histories.map(({ firstStepMs }) => firstStepMs));
  const firstMs = earliest(histories.map(({ firstTokenMs }) => firstTokenMs));
  const lastMs = Math.max(0, ...histories.map(({ lastTokenMs }) => lastTokenMs));
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

function usageAttributes(sequences: readonly ObservedSequence[]): Attributes {
  const sum = (of: (sequence: ObservedSequence) => number): number =>
    sequences.reduce((total, sequence) => total + of(sequence), 0);
  return {
    'gen_ai.usage.num_sequences': sequences.length,
    'gen_ai.usage.prompt_tokens': sum(({ job }) => job.promptTokens),
    'gen_ai.usage.completion_tokens': sum(({ received }) => received),
  };
}

/** 0 marks an instant that has not come. */
function earliest(instantsMs: readonly number[]): number {
  const come = instantsMs.filter((ms) => ms > 0);
  return come.length === 0 ? 0 : Math.min(...come);
}

function present(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
