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

/**
 * A streamed answer. Text is collected while a frame is read and sent in one write after it. A
 * failure is an HTTP status before the headers are sent, and an event afterwards.
 */
export class StreamAnswer implements Answer {
  private readonly stream: EventStream;
  private pending = '';
  private hasBegun = false;

  constructor(
    private readonly http: HttpAnswer,
    private readonly rendered: Streamed,
  ) {
    this.stream = new EventStream(http.response, http.tap);
  }

  get isOverfull(): boolean {
    return this.stream.isOverfull;
  }

  /** Resolves when a client that is behind has read what was written, or has left. */
  drained(): Promise<void> {
    return this.stream.drained();
  }

  open(): void {
    this.stream.open(this.http.headers());
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
    this.stream.write(this.pending);
    this.pending = '';
  }

  complete(facts: AnswerFacts): void {
    this.open();
    this.stream.endStream(this.pending + this.rendered.finishStream(facts));
    this.pending = '';
  }

  fail(error: BatonError): void {
    if (this.stream.isOpen) this.stream.endStream(this.pending + this.rendered.fail(error));
    else this.http.sendError(error);
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
