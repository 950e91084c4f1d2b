import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WireTap } from '../wire-tap';

/** A stream with more unsent bytes than this has no active reader. */
const MAX_UNSENT_BYTES = 1024 * 1024;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
};

export const EVENT_END = '\n\n';

/**
 * One server-sent event stream on its way to a client. The socket write is nearly the whole cost of
 * a token, so this class frames the HTTP chunk and writes it to the socket as latin1. Where that is
 * not possible (HTTP/1.0, a pipelined answer whose turn has not come), Node's own response takes
 * the text. It never waits: the writer checks `isOverfull` and ends a client that does not read, or
 * waits until it has `drained`.
 */
export class EventStream {
  private socket: Socket | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly tap?: WireTap,
  ) {}

  get isOpen(): boolean {
    return this.response.headersSent;
  }

  /** Sends status and headers immediately. `headers` are added to those of an event stream. */
  open(headers: Readonly<Record<string, string>>): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    response.writeHead(200, { ...HEADERS, ...headers });
    this.tap?.head(200, HEADERS);
    response.flushHeaders();
    response.socket?.setNoDelay(true);
    this.socket = directSocket(response);
  }

  /** @param events whole events, or a piece of a long one; ASCII only */
  write(events: string): void {
    if (events === '' || this.response.writableEnded) return;
    this.tap?.bytes(events);
    const { socket } = this;
    if (!socket) this.response.write(events, 'latin1');
    else if (socket.writable) {
      socket.write(chunksOf(events), 'latin1');
    }
  }

  /** The last events and the end of the answer, in one write. */
  endStream(events: string): void {
    const { response, socket } = this;
    if (response.writableEnded) return;
    socket?.cork();
    this.write(events);
    response.end();
    socket?.uncork();
    this.tap?.endAnswer();
  }

  /** Ends the connection without a last event. */
  destroy(): void {
    this.response.destroy();
  }

  get isOverfull(): boolean {
    return unsentBytes(this.response) > MAX_UNSENT_BYTES;
  }

  /** Resolves when a client that is behind has read what was written, or has left. */
  drained(): Promise<void> {
    const { response } = this;
    if (!this.isOverfull || response.destroyed) return Promise.resolve();
    const writer = this.socket ?? response;
    return new Promise((resolve) => {
      const over = (): void => {
        writer.off('drain', over);
        response.off('close', over);
        resolve();
      };
      writer.on('drain', over);
      response.on('close', over);
    });
  }
}

/**
 * Frames every event as its own HTTP chunk, so that a client that reads by chunks gets one event at
 * a time even when one write has several. A piece of a long event is a chunk, too.
 */
function chunksOf(events: string): string {
  let chunks = '';
  for (let from = 0; from < events.length;) {
    const end = events.indexOf(EVENT_END, from);
    const to = end === -1 ? events.length : end + EVENT_END.length;
    chunks += `${(to - from).toString(16)}\r\n${events.slice(from, to)}\r\n`;
    from = to;
  }
  return chunks;
}

/** Bytes that the client has not read yet. */
export function unsentBytes(response: ServerResponse): number {
  return Math.max(response.socket?.writableLength ?? 0, response.writableLength);
}

/** The socket, when a write to it comes right after the headers, as a chunk. */
function directSocket(response: ServerResponse): Socket | undefined {
  const { socket } = response;
  return socket !== null && response.chunkedEncoding && response.writableLength === 0
    ? socket
    : undefined;
}
