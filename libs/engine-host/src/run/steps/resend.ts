import { emptyFrameEntry, type EndReason, type EngineMessage } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { FinishedRuns } from '../endings/finished-runs';
import { type FrameOutbox, Frames } from '../runs/frames';
import type { KeptPayloads } from '../runs/kept-payloads';
import { RunTable } from '../runs/run';

/**
 * Sends missed frames again to an API process, for a sequence of this engine that runs or ended
 * recently. For a running sequence it also reports that there is nothing new. A request about an
 * unknown sequence gets no answer.
 */
@Injectable()
export class FrameResender {
  private readonly entry = emptyFrameEntry();

  constructor(
    private readonly runs: RunTable,
    private readonly frames: Frames,
    private readonly finished: FinishedRuns,
  ) {}

  readonly answer = (request: Extract<EngineMessage, { kind: 'resend' }>): void => {
    const { requestId, fromIndex } = request;
    const run = this.runs.get(requestId);
    this.entry.streamId = request.streamId;
    if (run !== undefined) {
      this.entry.epoch = run.epoch;
      this.sendMissed(request.apiId, { total: run.emitted, fromIndex, payloads: run.payloads });
      return;
    }
    const ended = this.finished.get(requestId);
    if (ended === undefined) return;
    const { reason, tokens } = ended.result;
    this.entry.epoch = ended.epoch;
    const end = { reason, tail: ended.tail };
    this.sendMissed(request.apiId, { total: tokens, fromIndex, end, payloads: ended.payloads });
  };

  private sendMissed(apiId: string, missed: Missed): void {
    const { frames } = this;
    const outbox = frames.take(apiId);
    const shown = this.sendPayloads(outbox, missed);
    this.sendCounts(outbox, { ...missed, fromIndex: shown });
    frames.release(outbox);
    frames.flushSoon();
  }

  /** Sends the known payloads one by one. Returns the index of the first that is not sent. */
  private sendPayloads(outbox: FrameOutbox, { payloads, fromIndex, total }: Missed): number {
    const { entry } = this;
    let index = fromIndex;
    for (; payloads !== undefined && index < total; index += 1) {
      entry.tail = payloads.at(index);
      if (entry.tail === undefined) break;
      entry.kind = 'tokens';
      entry.reason = 'none';
      entry.first = index;
      entry.count = 1;
      this.frames.add(outbox, entry);
    }
    return index;
  }

  private sendCounts(outbox: FrameOutbox, missed: Missed): void {
    const { entry } = this;
    entry.count = Math.max(0, missed.total - missed.fromIndex);
    if (missed.end) {
      entry.kind = 'end';
      entry.first = missed.total;
    } else {
      entry.kind = 'tokens';
      entry.first = missed.fromIndex;
    }
    entry.reason = missed.end?.reason ?? 'none';
    entry.tail = missed.end?.tail;
    this.frames.add(outbox, entry);
  }
}

interface Missed {
  readonly total: number;
  readonly fromIndex: number;
  /** Payloads of an executing run. */
  readonly payloads: KeptPayloads | undefined;
  readonly end?: {
    readonly reason: EndReason;
    readonly tail: string | undefined;
  };
}
