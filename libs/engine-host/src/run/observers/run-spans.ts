import { contextOfTraceparent, timeOf } from '@baton/telemetry';
import {
  type Attributes,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { EngineIdentity } from '../engine/engine-identity';
import type { Run } from '../runs/run';

/** The outcome of a run in its span. */
export type RunOutcome = 'finished' | 'handed over' | 'released';

/** Limit of open spans, far above the runs of an engine. */
const MAX_OPEN = 100_000;

/**
 * One span per run of a request on an engine, in the trace of the request, and one per transfer of
 * its KV. Instants are µs of the wall clock since the Unix epoch.
 */
export class RunSpans {
  private readonly open = new Map<Run, Span>();

  constructor(private readonly tracer: Tracer) {}

  taken(run: Run, { engineId, name }: EngineIdentity, atUs: number): void {
    if (this.open.size >= MAX_OPEN) return;
    const { job, stage } = run;
    const attributes = {
      'gen_ai.request.id': job.requestId,
      'gen_ai.usage.prompt_tokens': job.promptTokens,
      'baton.engine.id': engineId,
      'baton.engine.name': name,
      'baton.stage': stage,
      'baton.submission': job.submission,
    };
    const options = { kind: SpanKind.CONSUMER, startTime: timeOf(atUs), attributes };
    const parent = contextOfTraceparent(job.traceparent);
    this.open.set(run, this.tracer.startSpan(stage, options, parent));
  }

  /** Records that KV of the run came over a link. */
  transferred(run: Run, { startUs, endUs, tokens }: TransferSpan): void {
    const span = this.open.get(run);
    if (span === undefined || tokens === 0) return;
    const options = { startTime: timeOf(startUs), attributes: { 'baton.transfer.tokens': tokens } };
    const parent = trace.setSpan(contextOfTraceparent(run.job.traceparent), span);
    this.tracer.startSpan('kv_transfer', options, parent).end(timeOf(endUs));
  }

  /** Idempotent: the first outcome counts. */
  endRun(run: Run, outcome: RunOutcome, atUs: number): void {
    const span = this.open.get(run);
    if (span === undefined) return;
    this.open.delete(run);
    const attributes: Attributes = {
      'baton.outcome': outcome,
      'baton.epoch': run.epoch,
      'gen_ai.usage.completion_tokens': run.emitted,
    };
    span.setAttributes(attributes);
    if (outcome === 'released') span.setStatus({ code: SpanStatusCode.ERROR, message: outcome });
    span.end(timeOf(atUs));
  }
}

export interface TransferSpan {
  readonly startUs: number;
  readonly endUs: number;
  readonly tokens: number;
}
