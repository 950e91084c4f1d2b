import type { ResponseStream } from '@baton/responses';
import type { DetachedResponse } from '../../http/detached-response';
import { EVENT_END } from '../../http/streaming/event-stream';
import type { EventSink } from '../../request/answer/stream';

/** Takes the events of a response that has no HTTP response of its own. */
export interface Listener {
  /** True when the listener reads too slowly, which ends the answer. */
  readonly isOverfull: boolean;
  /** Takes whole events, as a stream sends them. */
  takeEvents(events: string): void;
  /** No more events follow. */
  endStream(): void;
}

interface Listened {
  readonly listener: Listener;
  /** Stands in for the client's response in the exchange; it closes with the answer. */
  readonly stub: DetachedResponse;
  /** The response whose first event says that it is queued; undefined: it is not. */
  readonly queued: ResponseStream | undefined;
}

/** Passes events to a listener: to a background response, or a turn on a WebSocket. */
export class ListenedEvents implements EventSink {
  /** A failure is an event from the start. */
  readonly isOpen = true;
  private hasBegun = false;
  /** The beginning of an event whose end has not come. */
  private begun = '';

  constructor(private readonly parts: Listened) {}

  get isOverfull(): boolean {
    return this.parts.listener.isOverfull;
  }

  open(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const { queued, listener } = this.parts;
    if (queued !== undefined) listener.takeEvents(queued.queued());
  }

  write(events: string): void {
    this.begun += events;
    if (!events.endsWith(EVENT_END)) return;
    this.parts.listener.takeEvents(this.begun);
    this.begun = '';
  }

  endStream(events: string): void {
    const { listener, stub } = this.parts;
    listener.takeEvents(this.begun + events);
    listener.endStream();
    stub.endConnection();
  }

  /** The listener buffers the events that its client has not read. */
  drained(): Promise<void> {
    return Promise.resolve();
  }
}
