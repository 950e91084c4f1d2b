import { emptyFrameEntry, type EndReason, type EngineMessage } from '@baton/contract';
import type { FinishedRuns } from './finished-runs';
import type { HostContext } from './host-context';

/**
 * Says again to an API process what it missed of a sequence that runs or has lately ended here; of one that runs, also that there is nothing
 * new. What is unknown stays unanswered.
 */
export class Resender {
  private readonly entry = emptyFrameEntry();

  constructor(
    private readonly context: HostContext,
    private readonly finished: FinishedRuns,
  ) {}

  readonly answer = (ask: Extract<EngineMessage, { kind: 'resend' }>): void => {
    const { requestId, fromIndex } = ask;
    const run = this.context.runs.get(requestId);
    this.entry.streamId = ask.streamId;
    if (run !== undefined) {
      this.entry.epoch = run.epoch;
      this.say(ask.apiId, { total: run.emitted, fromIndex });
      return;
    }
    const ended = this.finished.get(requestId);
    if (ended === undefined) return;
    const { reason, tokens } = ended.result;
    this.entry.epoch = ended.epoch;
    this.say(ask.apiId, { total: tokens, fromIndex, end: { reason, tail: ended.tail } });
  };

  private say(apiId: string, missed: Missed): void {
    const { entry } = this;
    const { frames } = this.context;
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
    const outbox = frames.take(apiId);
    frames.add(outbox, entry);
    frames.release(outbox);
    frames.flushSoon();
  }
}

interface Missed {
  readonly total: number;
  readonly fromIndex: number;
  readonly end?: {
    readonly reason: EndReason;
    readonly tail: string | undefined;
  };
}
