import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { EventStream } from '../../http/streaming/event-stream';
import type { Listener } from './events-answer';

/**
 * A client that gets a response over an event stream. It may leave or fall behind without effect on
 * the response.
 */
export class StreamListener implements Listener {
  readonly isOverfull = false;
  private readonly stream: EventStream;

  /** Takes the reply over from the framework, with its headers. */
  constructor(reply: FastifyReply) {
    const headers = Object.entries(reply.getHeaders()).map(([name, value]) => [
      name,
      String(value),
    ]);
    reply.hijack();
    this.stream = new EventStream(reply.raw);
    this.stream.open(Object.fromEntries(headers) as Record<string, string>);
    this.response = reply.raw;
  }

  private readonly response: ServerResponse;

  get hasLeft(): boolean {
    return this.response.destroyed;
  }

  onLeave(left: () => void): void {
    this.response.once('close', left);
  }

  hear(events: string): void {
    this.stream.write(events);
    if (this.stream.isOverfull) this.response.destroy();
  }

  end(): void {
    this.stream.end('');
  }
}
