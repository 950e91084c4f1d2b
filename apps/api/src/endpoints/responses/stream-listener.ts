import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { EventStream } from '../../http/streaming/event-stream';
import { PacedStream } from '../../http/streaming/paced-stream';
import type { Listener } from './listened-events';

/**
 * A client that gets a response over an event stream. It may leave or fall behind without effect on
 * the response.
 */
export class StreamListener implements Listener {
  readonly isOverfull = false;
  private readonly stream: PacedStream;

  /** Takes the reply over from the framework, with its headers. */
  constructor(reply: FastifyReply) {
    const headers = Object.entries(reply.getHeaders()).map(([name, value]) => [
      name,
      String(value),
    ]);
    reply.hijack();
    const stream = new EventStream(reply.raw);
    stream.open(Object.fromEntries(headers) as Record<string, string>);
    this.stream = new PacedStream(stream);
    this.response = reply.raw;
  }

  readonly response: ServerResponse;

  get hasLeft(): boolean {
    return this.response.destroyed;
  }

  takeEvents(events: string): void {
    this.stream.write(events);
  }

  endStream(): void {
    this.stream.endStream();
  }
}
