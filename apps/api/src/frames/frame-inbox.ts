import { type FrameEntry, type FrameHeader, readFrame } from '@baton/contract';
import type { Logger } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { RateMeter } from '../observers/live-page/rate-meter';
import { RequestMetrics, type TokenNews } from '../observers/metrics/request-metrics';
import { RequestRecorder } from '../observers/recording/request-recorder';
import { Timelines } from '../observers/timelines/timelines';
import { AdmissionGate } from '../request/admit/admission-gate';
import { FaultInjector } from '../request/faults/fault-injector';
import { LOGGER } from '../tokens';
import { Resender } from './resender';
import type { Sequence, SequenceOwner, Verdict } from './sequence';
import { SequenceTable } from './sequence-table';

/**
 * Where token frames come in. It finds the sequence of each entry and hands the news to its owner; when the frame is through, each owner
 * that got any writes once. This is the hot path of the process: it allocates nothing per token.
 */
@Injectable()
export class FrameInbox {
  private readonly dirty: SequenceOwner[] = [];
  private nowMs = 0;
  /** Header of the frame whose tokens are to be written. */
  private header: FrameHeader | undefined;

  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly table: SequenceTable,
    private readonly gate: AdmissionGate,
    private readonly resender: Resender,
    private readonly metrics: RequestMetrics,
    private readonly recorder: RequestRecorder,
    private readonly timelines: Timelines,
    private readonly meter: RateMeter,
    private readonly faults: FaultInjector,
  ) {}

  readonly receive = (frame: Buffer): void => {
    this.nowMs = performance.now();
    if (!readFrame(frame, this.visit)) this.logger.warn({ bytes: frame.length }, 'bad token frame');
    this.flush();
  };

  private readonly visit = (entry: FrameEntry, header: FrameHeader): void => {
    const sequence = this.table.get(entry.streamId);
    if (entry.kind === 'fault') this.faults.noted(sequence, entry.tail);
    if (!sequence) return;
    const from = sequence.received;
    const verdict = sequence.accept(entry, this.nowMs);
    if (verdict === 'stale') return;
    sequence.engineId = header.engineId;
    if (verdict === 'noted') this.note(sequence, entry, header);
    else if (verdict === 'gap') this.resender.ask(sequence, header.engineId);
    else this.deliver(sequence, verdict, { from, header, offsetUs: entry.offsetUs });
  };

  private note(sequence: Sequence, entry: FrameEntry, header: FrameHeader): void {
    this.recorder.noted(sequence, entry, header);
    this.metrics.noted(sequence, entry, header);
    this.timelines.noted(sequence, entry, header);
    if (entry.kind === 'handed-over') this.gate.moved(sequence, 'decode');
    if (entry.kind === 'restarted')
      this.gate.moved(sequence, header.stage === 'decode' ? 'prefill' : header.stage);
    if (entry.kind !== 'scheduled') return;
    this.gate.moved(sequence, undefined);
    // A routed prompt is counted where it was computed; decode's own hits are the transferred tokens once more.
    if (header.stage === 'decode' && sequence.job.flow === 'route') return;
    sequence.cachedTokens = entry.extra + entry.count;
  }

  private deliver(sequence: Sequence, verdict: Verdict, news: TokenNews): void {
    const { owner } = sequence;
    if (!owner.isDirty) {
      owner.isDirty = true;
      this.dirty.push(owner);
    }
    this.gate.moved(sequence, undefined);
    if (sequence.received > news.from) {
      this.header = news.header;
      // Before the metrics, which note when its last token came.
      this.meter.tokens(sequence, this.nowMs, news.from);
      this.metrics.tokens(sequence, this.nowMs, news);
      this.recorder.tokens(sequence, this.nowMs, news);
      this.timelines.tokens(sequence, this.nowMs, news);
    }
    try {
      if (verdict === 'advanced') owner.onTokens(sequence, news.from);
      else if (verdict === 'ended') owner.onEnd(sequence, news.from);
      else owner.onFailure(sequence, sequence.errorCode ?? 'engine_error');
    } catch (error) {
      this.broken(sequence, error);
    }
  }

  private flush(): void {
    for (const owner of this.dirty) {
      owner.isDirty = false;
      owner.flush();
    }
    this.dirty.length = 0;
    if (this.header) this.metrics.frameWritten(this.header);
    this.header = undefined;
  }

  /** One answer that cannot be rendered must not take the others of the frame with it. */
  private broken(sequence: Sequence, error: unknown): void {
    this.logger.error({ err: error, requestId: sequence.job.requestId }, 'answer not rendered');
    sequence.owner.onFailure(sequence, 'engine_error');
  }
}
