import { type BatonError, type EndReason, type EngineJob, type ErrorCode } from '@baton/contract';
import { UpstreamError } from '@baton/openai';
import type { Aborter } from '../../frames/aborter';
import type { Sequence, SequenceOwner } from '../../frames/sequence';
import type { SequenceTable } from '../../frames/sequence-table';
import type { RateMeter } from '../../observers/live-page/rate-meter';
import type { RequestMetrics } from '../../observers/metrics/request-metrics';
import type { RequestRecorder } from '../../observers/recording/request-recorder';
import type { Timelines } from '../../observers/timelines/timelines';
import type { RequestSpan } from '../../observers/tracing/request-spans';
import type { AdmissionGate } from '../admit/admission-gate';
import type { Answer, AnswerFacts, HeldFacts } from '../answer/answer';
import type { FaultInjector } from '../faults/fault-injector';

type KvParams = NonNullable<AnswerFacts['kvTransferParams']>;

/** What an exchange works with; the same for all. */
export interface ExchangeTools {
  readonly table: SequenceTable;
  readonly gate: AdmissionGate;
  readonly aborter: Aborter;
  readonly metrics: RequestMetrics;
  readonly recorder: RequestRecorder;
  readonly timelines: Timelines;
  readonly meter: RateMeter;
  readonly faults: FaultInjector;
}

export interface ExchangeOptions {
  /** What the client knows it by: the answer's id and the request's. */
  readonly names: readonly string[];
  /** Choices per prompt, for the metrics. */
  readonly choices: number;
  /** Of the prefill leg of an outside router: hears what is held, if anything, once or more, and says what the client is told of it. */
  readonly heldAs?: ((params: KvParams | undefined) => HeldFacts) | undefined;
  /** Unset: nothing is traced. */
  readonly span?: RequestSpan | undefined;
  /** Ends the client's connection without a word. */
  readonly hangUp: () => void;
}

/**
 * One client request: its sequences and its answer. It passes tokens from the one to the other, ends the answer with the last sequence, and on any
 * failure ends all of them together. It is driven by the frame inbox, the recovery and the client's connection.
 */
export class Exchange implements SequenceOwner {
  isDirty = false;
  private readonly sequences: Sequence[] = [];
  private unfinished = 0;
  private isClosed = false;

  constructor(
    private readonly tools: ExchangeTools,
    private readonly answer: Answer,
    private readonly options: ExchangeOptions,
  ) {}

  /** Opens one sequence per job; `jobOf` gets the index and the stream id under which tokens will come. */
  openSequences(count: number, jobOf: (index: number, streamId: number) => EngineJob): EngineJob[] {
    const nowMs = performance.now();
    for (let index = 0; index < count; index += 1) {
      const opening = { index, nowMs, jobOf: (streamId: number) => jobOf(index, streamId) };
      this.sequences.push(this.tools.table.open(this, opening));
    }
    this.unfinished = count;
    return this.sequences.map((sequence) => sequence.job);
  }

  /** The broker has the jobs. */
  admitted(): void {
    if (!this.isClosed) this.answer.open();
  }

  get members(): readonly Sequence[] {
    return this.sequences;
  }

  onTokens(sequence: Sequence, from: number): void {
    if (this.isClosed) return;
    this.pass(sequence);
    this.answer.tokens(sequence.index, from, sequence.received - from);
  }

  onEnd(sequence: Sequence, from: number): void {
    if (this.isClosed) return;
    this.pass(sequence);
    const span = { index: sequence.index, from, count: sequence.received - from };
    this.answer.finish(span, sequence.endReason ?? 'stop');
    this.unfinished -= 1;
    this.account(sequence, sequence.endReason ?? 'stop');
    this.release(sequence);
  }

  onFailure(sequence: Sequence, errorCode: ErrorCode): void {
    const { upstreamFailure } = sequence;
    this.fail(
      upstreamFailure === undefined
        ? this.tools.faults.errorOf(sequence, errorCode)
        : new UpstreamError(upstreamFailure),
    );
  }

  private pass(sequence: Sequence): void {
    if (!sequence.hasPayloads) return;
    for (const payload of sequence.takePayloads()) this.answer.executed?.(payload);
  }

  flush(): void {
    if (this.isClosed) return;
    if (this.unfinished === 0) this.complete();
    else {
      this.answer.flush();
      if (this.answer.isOverfull) this.hangUpOnSlowReader();
    }
  }

  /** Ends everything with one error to the client. Idempotent. */
  fail(error: BatonError): void {
    if (this.isClosed) return;
    this.close('error', error.code);
    this.answer.fail(error);
  }

  isNamed(name: string): boolean {
    return this.options.names.includes(name);
  }

  /** Ends it early: the client gets what there is, with the finish reason `abort`. */
  abort(): void {
    if (this.isClosed) return;
    for (const { index, received, isOver } of this.sequences) {
      if (!isOver) this.answer.finish({ index, from: received, count: 0 }, 'abort');
    }
    this.close('abort');
    this.answer.complete({ cachedTokens: this.cachedTokens, kvTransferParams: undefined });
  }

  /** The client's connection closed. */
  clientLeft(): void {
    this.close('abort');
  }

  hangUpOnSlowReader(): void {
    if (!this.isClosed) this.tools.metrics.countSlowReader();
    this.close('abort');
    this.options.hangUp();
  }

  private complete(): void {
    const held = paramsOf(this.sequences[0]?.tail);
    const { heldAs } = this.options;
    const told = heldAs === undefined ? { kvTransferParams: held } : heldAs(held);
    this.close('stop');
    this.answer.complete({ cachedTokens: this.cachedTokens, ...told });
  }

  private get cachedTokens(): number {
    return this.sequences.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0);
  }

  /** Lets go of all sequences; those that still run are aborted in the cluster. */
  private close(reason: 'stop' | 'error' | 'abort', error?: ErrorCode): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (reason !== 'stop') this.options.heldAs?.(undefined);
    this.options.span?.ended(this.sequences, { reason, error });
    const running = this.sequences.filter(({ endReason }) => !isDone(endReason));
    for (const sequence of running) {
      this.account(sequence, reason, error);
      this.release(sequence);
    }
    const orphans = running.filter(({ endReason }) => endReason === undefined);
    if (orphans.length > 0) this.tools.aborter.abort(orphans.map(({ job }) => job.requestId));
  }

  private account(sequence: Sequence, reason: EndReason, error?: ErrorCode): void {
    this.tools.metrics.ended(sequence, this.options.choices, reason);
    this.tools.recorder.ended(sequence, { reason, error });
    this.tools.timelines.ended(sequence, reason, error);
    this.tools.meter.finished();
  }

  private release(sequence: Sequence): void {
    this.tools.gate.moved(sequence, undefined);
    this.tools.table.close(sequence);
  }
}

function isDone(endReason: Sequence['endReason']): boolean {
  return endReason !== undefined && endReason !== 'abort' && endReason !== 'error';
}

function paramsOf(tail: string | undefined): KvParams | undefined {
  if (tail === undefined) return undefined;
  const parsed: unknown = JSON.parse(tail);
  return typeof parsed === 'object' && parsed !== null ? (parsed as KvParams) : undefined;
}
