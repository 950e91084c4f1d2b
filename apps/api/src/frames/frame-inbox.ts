import { wallUsOf } from '@baton/clock';
import { type FaultNote, type FrameEntry, type FrameHeader, readFrame } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { Observers } from '../observers/port/observers';
import type { TokenNews } from '../observers/port/port';
import { Log } from '../tokens';
import { Resender } from './resender';
import type { Sequence, SequenceOwner, Verdict } from '../sequences/sequence';
import { SequenceTable } from '../sequences/sequence-table';

/**
 * A frame that is later than this shows that the process is behind: its tokens are written together
 * with those of the other frames of the turn, in one write per stream.
 */
const BEHIND_US = 10_000;
const MALFORMED = 'dropped a malformed token frame';
const BROKEN_ANSWER = 'writing an answer failed; its request ends';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The entrance for token frames. It finds the sequence of each entry and hands the news to its
 * owner and to the observers; after the frame, or after the turn when it is late, each owner with
 * news writes once. This is the hot path of the process: it allocates nothing per token.
 */
@Injectable()
export class FrameInbox {
  private readonly dirty: SequenceOwner[] = [];
  private nowMs = 0;
  /** Header of the frame with tokens that was read last. */
  private header: FrameHeader | undefined;
  /** Headers of the frames whose tokens are to be written. */
  private readonly unwritten: FrameHeader[] = [];
  private isFlushDue = false;
  /** The news of the entry that is being read; one object for all of them. */
  private readonly news: Writable<TokenNews> = {
    from: 0,
    count: 0,
    nowMs: 0,
    previousMs: 0,
    stampedUs: 0,
    header: { engineId: '', stage: 'aggregated', stepEndUs: 0 },
  };

  constructor(
    private readonly logger: Log,
    private readonly table: SequenceTable,
    private readonly resender: Resender,
    private readonly observers: Observers,
  ) {}

  readonly receive = (frame: Buffer): void => {
    this.nowMs = performance.now();
    this.read(frame);
    const { header } = this;
    this.header = undefined;
    if (header !== undefined) this.unwritten.push(header);
    const lateUs = header === undefined ? 0 : wallUsOf(this.nowMs) - header.stepEndUs;
    // News without tokens need not end the wait of late ones.
    if (lateUs > BEHIND_US || (header === undefined && this.isFlushDue)) this.flushSoon();
    else this.flush();
  };

  /** Everybody who reaches the broker can publish: no frame may end the process. */
  private read(frame: Buffer): void {
    try {
      if (!readFrame(frame, this.visit)) this.logger.warn({ bytes: frame.length }, MALFORMED);
    } catch (error) {
      this.logger.warn({ err: error, bytes: frame.length }, MALFORMED);
    }
  }

  private readonly visit = (entry: FrameEntry, header: FrameHeader): void => {
    const sequence = this.table.get(entry.streamId);
    if (entry.kind === 'fault') this.faulted(sequence, entry.tail);
    if (!sequence) return;
    const from = sequence.received;
    const previousMs = sequence.history.lastTokenMs;
    const verdict = sequence.accept(entry, header, this.nowMs);
    if (verdict === 'stale') return;
    if (verdict === 'noted') this.note(sequence, entry, header);
    else if (verdict === 'gap') this.resender.request(sequence, header.engineId);
    else {
      this.news.from = from;
      this.news.previousMs = previousMs;
      this.news.stampedUs = header.stepEndUs + entry.offsetUs;
      this.deliver(sequence, verdict, header);
    }
  };

  /** Counts the fault even when its sequence has ended. */
  private faulted(sequence: Sequence | undefined, tail: string | undefined): void {
    if (tail === undefined) return;
    const note = JSON.parse(tail) as FaultNote;
    this.observers.faulted(note);
    sequence?.noteFault(note);
  }

  private note(sequence: Sequence, entry: FrameEntry, header: FrameHeader): void {
    const note = sequence.note(entry, header);
    if (note === undefined) return;
    this.observers.noted(sequence, note);
    sequence.owner.onNote(sequence, note);
  }

  private deliver(sequence: Sequence, verdict: Verdict, header: FrameHeader): void {
    const { owner, received } = sequence;
    const { from } = this.news;
    if (!owner.isDirty) {
      owner.isDirty = true;
      this.dirty.push(owner);
    }
    if (received > from) this.notifyObservers(sequence, header);
    try {
      if (verdict === 'advanced') owner.onTokens(sequence, from);
      else if (verdict === 'ended') owner.onEnd(sequence, from);
      else owner.onFailure(sequence, sequence.errorCode ?? 'engine_error');
    } catch (error) {
      this.failBroken(sequence, error);
    }
  }

  /** Notifies the observers of new tokens. */
  private notifyObservers(sequence: Sequence, header: FrameHeader): void {
    const { news } = this;
    news.count = sequence.received - news.from;
    news.nowMs = this.nowMs;
    news.header = header;
    this.header = header;
    this.observers.tokens(sequence, news);
  }

  private flushSoon(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    setImmediate(() => {
      this.isFlushDue = false;
      this.flush();
    });
  }

  private flush(): void {
    for (const owner of this.dirty) {
      owner.isDirty = false;
      try {
        owner.flush();
      } catch (error) {
        this.logger.error({ err: error }, BROKEN_ANSWER);
      }
    }
    this.dirty.length = 0;
    for (const header of this.unwritten) this.observers.written(header);
    this.unwritten.length = 0;
  }

  /** An answer that cannot be rendered must not fail the others of the frame. */
  private failBroken(sequence: Sequence, error: unknown): void {
    this.logger.error({ err: error, requestId: sequence.job.requestId }, BROKEN_ANSWER);
    sequence.owner.onFailure(sequence, 'engine_error');
  }
}
