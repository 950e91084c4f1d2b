import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { headOf } from '@baton/responses';
import { channels, jsonListener, type Unsubscribe } from '@baton/transport';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Owned } from '../../http/access/tenant';
import { EVENT_END } from '../../http/streaming/event-stream';
import { partEnd } from '../../http/streaming/paced-stream';
import { ReaderWatch } from '../../http/streaming/reader-watch';
import { Broker, Log } from '../../tokens';
import type { Listener } from './listened-events';
import { ResponseStore } from './response-store';
import { ResponseViews } from './response-views';
import { StreamListener } from './stream-listener';

/** Interval of the store checks for a followed response, in case its events do not come. */
const LOOK_EVERY_MS = 250;
/**
 * Most characters of one message. Followers read a longer part, the end of a response, from the
 * store.
 */
const MOST_PUBLISHED = 1024 * 1024;

/** A response under way in this process: the events so far, and their listener. */
interface Broadcast {
  sent: string;
  isFollowed: boolean;
  /** The rest of the events is too long to be published. */
  isLong: boolean;
  listener: Listener | undefined;
}

/** A request for the events of this response, from number `from` on. */
interface FollowRequest {
  readonly id: string;
  readonly from: number;
}

/** A listener to a response that any process generates. */
export interface Follower extends Listener {
  readonly hasLeft: boolean;
}

/**
 * The events of background responses, for clients that listen from the start and for those that
 * join later through any API process. A process that follows a response requests its events. The
 * process that generates the response publishes all events so far and every new one. Messages can
 * be lost; the store has the authoritative state.
 */
@Injectable()
export class Broadcasts implements OnApplicationShutdown, OnModuleInit {
  private readonly live = new Map<string, Broadcast>();
  private unsubscribe: Unsubscribe | undefined;

  constructor(
    private readonly logger: Log,
    private readonly transport: Broker,
    private readonly store: ResponseStore,
    private readonly views: ResponseViews,
    private readonly readers: ReaderWatch,
  ) {}

  async onModuleInit(): Promise<void> {
    const { bus } = this.transport;
    this.unsubscribe = await bus.subscribe(
      channels.followedResponses,
      jsonListener<FollowRequest>(this.logger, (request) => this.answer(request)),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.unsubscribe?.().catch(() => undefined);
  }

  /**
   * The client of this reply; it takes over the connection. A client that stops reading is
   * disconnected.
   */
  listenerAt(reply: FastifyReply): StreamListener {
    const listener = new StreamListener(reply);
    const { response } = listener;
    this.readers.watch(response, () => response.destroy());
    return listener;
  }

  /** @param listener a client of this process that gets its events from the start */
  open(id: string, listener: Listener | undefined): Listener {
    const broadcast: Broadcast = { sent: '', isFollowed: false, isLong: false, listener };
    this.live.set(id, broadcast);
    return {
      isOverfull: false,
      takeEvents: (events) => {
        broadcast.listener?.takeEvents(events);
        broadcast.isLong ||= events.length > MOST_PUBLISHED;
        if (broadcast.isLong) return;
        broadcast.sent += events;
        if (broadcast.isFollowed) this.publish(id, events);
      },
      endStream: () => {
        broadcast.listener?.endStream();
        this.live.delete(id);
      },
    };
  }

  /** Sends the follower the events after `after`, as they come. Resolves at the end. */
  async follow(at: Owned, follower: Follower, after: number): Promise<void> {
    const heard = new EventOrder(follower, after + 1);
    const { bus } = this.transport;
    const channel = channels.responseEvents(at.id);
    let stop: Unsubscribe | undefined;
    try {
      stop = await bus.subscribe(channel, (payload) => heard.take(payload.toString()));
      let found: string | undefined;
      let requestedFrom = -1;
      do {
        // Sent the first time, and again when no event has arrived since.
        if (requestedFrom === heard.next || requestedFrom < 0)
          this.request({ id: at.id, from: heard.next });
        requestedFrom = heard.next;
        await delay(LOOK_EVERY_MS);
        if (heard.isOver || follower.hasLeft) return;
        found = await this.store.text(at);
      } while (found !== undefined && !headOf(found).isOver);
      if (found === undefined) return;
      // The store records the end first, and a cancellation before the end.
      await delay(LOOK_EVERY_MS);
      if (heard.isOver) return;
      found = (await this.store.text(at)) ?? found;
      heard.take(await this.views.events(found, heard.next - 1));
    } finally {
      follower.endStream();
      await stop?.();
    }
  }

  private answer({ id, from }: FollowRequest): void {
    const broadcast = this.live.get(id);
    if (broadcast === undefined) return;
    broadcast.isFollowed = true;
    void this.publishEvents(id, broadcast, from);
  }

  /** Publishes the events from number `from` on, a part in each turn of the event loop. */
  private async publishEvents(id: string, broadcast: Broadcast, from: number): Promise<void> {
    let at = startOf(broadcast.sent, from);
    while (at < broadcast.sent.length) {
      const end = partEnd(broadcast.sent, at);
      this.publish(id, broadcast.sent.slice(at, end));
      at = end;
      await nextTurn();
    }
  }

  private request(request: FollowRequest): void {
    this.transport.bus.publish(channels.followedResponses, Buffer.from(JSON.stringify(request)));
  }

  private publish(id: string, events: string): void {
    this.transport.bus.publish(channels.responseEvents(id), Buffer.from(events));
  }
}

/**
 * The position at which the event with this number begins; the end of the text when that event does
 * not exist yet.
 */
function startOf(events: string, number: number): number {
  const at = events.indexOf(`"sequence_number":${number}`);
  if (at === -1) return events.length;
  const before = events.lastIndexOf(EVENT_END, at);
  return before === -1 ? 0 : before + EVENT_END.length;
}

/** Lets each event of a stream through once, in order: repeated and early events are left out. */
class EventOrder {
  isOver = false;

  constructor(
    private readonly listener: Listener,
    /** Number of the next expected event. */
    public next: number,
  ) {}

  take(events: string): void {
    let fresh = '';
    for (const event of events.split('\n\n')) {
      if (event === '' || this.isOver) continue;
      const number = /"sequence_number":(\d+)/.exec(event)?.[1];
      if (number === undefined) this.isOver = true;
      else if (Number(number) === this.next) this.next += 1;
      else continue;
      fresh += `${event}\n\n`;
    }
    if (fresh !== '') this.listener.takeEvents(fresh);
  }
}
