import type { BatonError, EndReason } from '@baton/contract';
import { assert } from '@baton/kernel';
import type { HttpAnswer } from '../../http/http-answer';
import { EventStream } from '../../http/streaming/event-stream';
import type { Answer, AnswerFacts, TokenSpan } from './answer';

/** The events of a stream: those of one sequence, and those of the whole answer. */
export interface Streamed {
  readonly sequences: readonly OpenedStream[];
  /** Called once, before the first token. */
  open(): string;
  /** Time at which every sequence has finished. */
  finishStream(facts: Partial<AnswerFacts>): string;
  /** The events of a failure after the first byte, and the end. */
  fail(error: BatonError): string;
}

export interface OpenedStream {
  tokens(from: number, count: number): string;
  finishSequence(reason: EndReason, from: number, count: number): string;
}

/** The way of the events to their reader. */
export interface EventSink {
  /** True when the reader is too slow, which ends the answer. */
  readonly isOverfull: boolean;
  /** False while a failure can still be a status without events. */
  readonly isOpen: boolean;
  /** Begins the stream. Idempotent. */
  open(): void;
  /** @param events whole events, or a piece of a long one; ASCII only */
  write(events: string): void;
  endStream(events: string): void;
  /** Ends a stream that is not open; where it always is, this does not exist. */
  refuse?(error: BatonError): void;
  /** Resolves when a reader that is behind has read what was written, or has left. */
  drained(): Promise<void>;
}

/** Sends events to the client of the request. */
export class HttpEvents extends EventStream implements EventSink {
  constructor(private readonly http: HttpAnswer) {
    super(http.response, http.tap);
  }

  override open(): void {
    if (!this.isOpen) super.open(this.http.headers());
  }

  refuse(error: BatonError): void {
    this.http.sendError(error);
  }
}

/**
 * A streamed answer. Text is collected while a frame is read and sent in one write after it. A
 * failure is an HTTP status before the headers are sent, and an event afterwards.
 */
export class StreamAnswer implements Answer {
  private pending = '';
  private hasBegun = false;

  constructor(
    private readonly sink: EventSink,
    private readonly rendered: Streamed,
  ) {}

  get isOverfull(): boolean {
    return this.sink.isOverfull;
  }

  /** Resolves when a client that is behind has read what was written, or has left. */
  drained(): Promise<void> {
    return this.sink.drained();
  }

  open(): void {
    this.sink.open();
  }

  tokens(index: number, from: number, count: number): void {
    this.begin();
    this.pending += this.rendererOf(index).tokens(from, count);
  }

  endSequence({ index, from, count }: TokenSpan, reason: EndReason): void {
    this.begin();
    this.pending += this.rendererOf(index).finishSequence(reason, from, count);
  }

  flush(): void {
    if (this.pending === '') return;
    this.open();
    this.sink.write(this.pending);
    this.pending = '';
  }

  complete(facts: AnswerFacts): void {
    this.open();
    this.sink.endStream(this.pending + this.rendered.finishStream(facts));
    this.pending = '';
  }

  fail(error: BatonError): void {
    if (this.sink.isOpen) this.sink.endStream(this.pending + this.rendered.fail(error));
    else this.sink.refuse?.(error);
  }

  /**
   * The role frames are sent with the first token, never at arrival: clients would count them as a
   * token.
   */
  private begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.pending += this.rendered.open();
  }

  private rendererOf(index: number): OpenedStream {
    const renderer = this.rendered.sequences[index];
    assert(renderer, 'every sequence has a renderer');
    return renderer;
  }
}
