import type { BatonError, EndReason } from '@baton/contract';
import type { ResponseStream } from '@baton/responses';
import type { Answer, AnswerFacts, TokenSpan } from '../../request/answer/answer';
import type { DetachedResponse } from '../../http/detached-response';
import { EVENT_END } from '../../http/streaming/event-stream';

/** Takes the events of a response that has no HTTP response of its own. */
export interface Listener {
  /** True when the listener reads too slowly, which ends the answer. */
  readonly isOverfull: boolean;
  /** Takes whole events, as a stream sends them. */
  takeEvents(events: string): void;
  /** No more events follow. */
  endStream(): void;
}

/** An answer sent as events to a listener: a background response, or a turn on a WebSocket. */
export class EventsAnswer implements Answer {
  private pending = '';
  /** False while `pending` ends within an event. */
  private isWhole = true;
  private hasBegun = false;

  /** @param stub stands in for the client's response in the exchange; it closes with the answer */
  constructor(
    private readonly rendered: ResponseStream,
    private readonly listener: Listener,
    private readonly options: { readonly stub: DetachedResponse; readonly isQueued: boolean },
  ) {}

  get isOverfull(): boolean {
    return this.listener.isOverfull;
  }

  /** The listener buffers the events that its client has not read. */
  drained(): Promise<void> {
    return Promise.resolve();
  }

  open(): void {
    if (this.options.isQueued) this.listener.takeEvents(this.rendered.queued());
  }

  tokens(_index: number, from: number, count: number): void {
    this.begin();
    const events = this.rendered.tokens(from, count);
    if (events === '') return;
    this.pending += events;
    this.isWhole = events.endsWith(EVENT_END);
  }

  endSequence({ from, count }: TokenSpan, reason: EndReason): void {
    this.begin();
    this.pending += this.rendered.finishSequence(reason, from, count);
  }

  flush(): void {
    if (this.pending === '' || !this.isWhole) return;
    this.listener.takeEvents(this.pending);
    this.pending = '';
  }

  complete({ cachedTokens }: AnswerFacts): void {
    this.endStream(this.rendered.finishStream({ cachedTokens }));
  }

  fail(error: BatonError): void {
    this.endStream(this.rendered.fail(error));
  }

  private endStream(events: string): void {
    this.listener.takeEvents(this.pending + events);
    this.listener.endStream();
    this.options.stub.endConnection();
  }

  private begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.pending += this.rendered.open();
  }
}
