import type { IncomingHttpHeaders } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { type Dispatcher, Pool } from 'undici';
import { ReceivedAnswer } from './protocol/answer';
import { type Protocol, readEvent } from './protocol/protocol';

const OK = 200;
const ERROR_BODY_BYTES = 1 << 16;
const CONNECT_MS = 30_000;
/** Most characters of one event. A longer one means that this is not an event stream. */
const LONGEST_EVENT = 1 << 22;
const NO_BYTES = Buffer.alloc(0);

/** The destination of requests. */
export interface Target {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: Protocol;
}

/** The end of an exchange over HTTP; the answer so far is in `answer`. */
export type Ending =
  | { readonly kind: 'whole' }
  | { readonly kind: 'failed'; readonly error: string; readonly message: string }
  | { readonly kind: 'aborted' };

const ENDLESS: Ending = {
  kind: 'failed',
  error: 'broken_stream',
  message: 'an event that does not end',
};

export interface Sending {
  readonly id: string;
  readonly body: string;
  /** Another path with its protocol, instead of the target's. */
  readonly to?: { readonly path: string; readonly protocol: Protocol } | undefined;
  /** Besides those of the target. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly keepsText: boolean;
  /** Time limit from the sending, wall ms. A later request fails with `timeout`. */
  readonly deadlineMs: number;
  /** Called exactly once. */
  onEnd(answer: ReceivedAnswer, ending: Ending): void;
}

/**
 * Keeps connections to one server and streams answers over them. Each request in flight has its own
 * connection, which a later one reuses.
 */
export class HttpStreams {
  private readonly pool: Pool;

  constructor(private readonly target: Target) {
    const timeouts = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_MS } };
    this.pool = new Pool(target.origin, { connections: null, pipelining: 1, ...timeouts });
  }

  /** Sends the request. Returns a function that cancels it. */
  send(sending: Sending): () => void {
    const { headers } = this.target;
    const { path, protocol } = sending.to ?? this.target;
    const stream = new HttpStream(protocol, sending);
    this.pool.dispatch(
      {
        method: 'POST',
        path,
        headers: { ...headers, ...sending.headers, 'x-request-id': sending.id },
        body: sending.body,
      },
      stream,
    );
    return () => stream.abort();
  }

  close(): Promise<void> {
    return this.pool.destroy();
  }
}

/** One exchange: undici passes it the data, it reads events and reports the end. */
class HttpStream implements Dispatcher.DispatchHandler {
  private readonly answer: ReceivedAnswer;
  private readonly decoder = new StringDecoder('utf8');
  private readonly events: EventSourceParser;
  /** When the newest bytes were read. */
  private atMs = 0;
  private readonly timer: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | undefined;
  private status = 0;
  private errorBody = NO_BYTES as Buffer;
  private hasEnded = false;

  constructor(
    protocol: Protocol,
    private readonly sending: Sending,
  ) {
    const answer = new ReceivedAnswer(sending.keepsText);
    this.answer = answer;
    this.events = createParser({
      onEvent: ({ data }) => {
        if (data !== '') readEvent(protocol, answer, { data, atMs: this.atMs });
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.giveUp(ENDLESS);
      },
      maxBufferSize: LONGEST_EVENT,
    });
    const message = `no whole answer within ${sending.deadlineMs / 1_000} s`;
    const ending = { kind: 'failed', error: 'timeout', message } as const;
    this.timer = setTimeout(() => this.giveUp(ending), sending.deadlineMs);
  }

  abort(): void {
    this.giveUp({ kind: 'aborted' });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.hasEnded) controller.abort(new Error('cancelled'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    _headers: IncomingHttpHeaders,
  ): void {
    this.status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.hasEnded) return;
    if (this.status !== OK) {
      if (this.errorBody.length < ERROR_BODY_BYTES) {
        this.errorBody = Buffer.concat([this.errorBody, bytes]);
      }
      return;
    }
    this.atMs = performance.now();
    this.events.feed(this.decoder.write(bytes));
  }

  onResponseEnd(): void {
    if (this.status !== OK) {
      this.fail(`http_${this.status}`, parseMessage(this.errorBody) || `HTTP ${this.status}`);
      return;
    }
    if (this.hasEnded) return;
    this.atMs = performance.now();
    // The last event can end without a blank line.
    this.events.feed('\n\n');
    const { error, events, isWhole } = this.answer;
    if (error !== undefined) this.fail('in_stream_error', error);
    else if (events === 0) this.fail('no_token', 'the answer ended without a token');
    else if (!isWhole) this.fail('cut_short', 'the stream ended without its final event');
    else this.endStream({ kind: 'whole' });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { code } = error as NodeJS.ErrnoException;
    const kind = this.answer.events > 0 || this.status === OK ? 'connection_lost' : 'no_connection';
    this.fail(kind, code === undefined ? error.message : `${code}: ${error.message}`);
  }

  /** Ends the exchange from the client's side. */
  private giveUp(ending: Ending): void {
    this.endStream(ending);
    this.controller?.abort(new Error('cancelled'));
  }

  private fail(error: string, message: string): void {
    this.endStream({ kind: 'failed', error, message });
  }

  private endStream(ending: Ending): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearTimeout(this.timer);
    this.sending.onEnd(this.answer, ending);
  }
}

/** The message in an error answer: OpenAI's, FastAPI's, or the plain text. */
function parseMessage(body: Buffer): string {
  const text = body.toString('utf8').trim();
  try {
    const { error, detail, message } = JSON.parse(text) as Record<string, unknown>;
    const inner = typeof error === 'object' && error !== null ? Object(error).message : error;
    const found: unknown = inner ?? message ?? detail;
    return typeof found === 'string' ? found : text;
  } catch {
    return text;
  }
}
