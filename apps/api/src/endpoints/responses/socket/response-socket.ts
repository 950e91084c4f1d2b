import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { wallUsOf } from '@baton/clock';
import { BatonError } from '@baton/contract';
import { messageBody, renderResponseError } from '@baton/responses';
import { asciiJson } from '@baton/text';
import type { RawData, WebSocket } from 'ws';
import type { Received } from '../../../request/take/call';
import { bodyOfBytes, LargeBody } from '../../../http/body/large-body';
import { DetachedResponse } from '../../../http/detached-response';
import type { Refusals } from '../../../request/refusals';
import type { RequestWay } from '../../../request/way';
import type { Log } from '../../../tokens';
import type { Listener } from '../listened-events';
import type { WrittenResponse } from '../response-answers';
import type { ResponseReader } from '../response-reader';
import type { ResponsesService } from '../responses.service';

/** OpenAI's limit. */
const MAX_CONNECTION_MS = 60 * 60 * 1_000;
/** Limits of the turns that wait for the running one: their number and their bytes. */
const MAX_WAITING = 16;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** A client with more unsent bytes than this counts as not reading. */
const MAX_UNSENT_BYTES = 1024 * 1024;

/** One message under way. */
interface Turn {
  /** The response that it continues. */
  continues: string | undefined;
}

export interface SocketServices {
  readonly reader: ResponseReader;
  readonly responses: ResponsesService;
  readonly generation: RequestWay;
  readonly refusals: Refusals;
  readonly logger: Log;
}

/**
 * One WebSocket: turns one after the other, each a request like that of a stream, answered by the
 * same events. It keeps its last response, so that the next turn can continue it even when it is
 * not stored.
 */
export class ResponseSocket {
  private readonly waiting: Buffer[] = [];
  private isBusy = false;
  private isExpired = false;
  private last: WrittenResponse | undefined;
  private turn: DetachedResponse | undefined;

  constructor(
    private readonly socket: WebSocket,
    private readonly upgrade: Received,
    private readonly services: SocketServices,
  ) {}

  listen(): void {
    const timer = setTimeout(() => {
      this.isExpired = true;
      if (!this.isBusy) this.expire();
    }, MAX_CONNECTION_MS);
    timer.unref();
    this.socket.on('message', (data) => this.take(messageBytes(data)));
    this.socket.on('error', () => this.socket.terminate());
    this.socket.once('close', () => {
      clearTimeout(timer);
      this.waiting.length = 0;
      this.turn?.destroy();
    });
  }

  private take(bytes: Buffer): void {
    const waitingBytes = this.waiting.reduce((sum, { length }) => sum + length, bytes.length);
    const isTooMuch = this.waiting.length > 0 && waitingBytes > MAX_WAITING_BYTES;
    if (this.waiting.length >= MAX_WAITING || isTooMuch) {
      this.refuse(new BatonError('queue_full'));
      return;
    }
    this.waiting.push(bytes);
    if (!this.isBusy) void this.work();
  }

  private async work(): Promise<void> {
    this.isBusy = true;
    for (let bytes = this.waiting.shift(); bytes !== undefined; bytes = this.waiting.shift()) {
      await this.answer(bytes);
      if (this.isExpired) this.expire();
    }
    this.isBusy = false;
  }

  /** Sends every failure to the client, and drops the response that the turn continued. */
  private async answer(bytes: Buffer): Promise<void> {
    const turn: Turn = { continues: undefined };
    try {
      await this.generate(bytes, turn);
    } catch (error) {
      this.forget(turn.continues);
      this.refuse(this.errorOf(error));
    }
  }

  private errorOf(error: unknown): BatonError {
    if (error instanceof BatonError) return error;
    this.services.logger.error({ err: error }, 'a request failed with an unexpected error');
    return new BatonError('engine_error');
  }

  private async generate(bytes: Buffer, turn: Turn): Promise<void> {
    const { reader, responses, generation, refusals } = this.services;
    const sent = bodyOfBytes(bytes);
    const isMessage = sent instanceof LargeBody;
    const body = isMessage ? sent : messageBody(sent);
    const recall = (id: string): string | undefined => {
      turn.continues = id;
      return this.last?.id === id ? this.last.text : undefined;
    };
    const read = await reader.read('response', { ...this.upgrade, body }, { isMessage, recall });
    const remember = (written: WrittenResponse): void => {
      if (written.status === 'failed') this.forget(turn.continues);
      else this.last = written;
    };
    const parts = { ...read.parts, listener: listenerAt(this.socket), remember };
    const response = new DetachedResponse();
    const call = responses.callFor({ ...read, parts });
    const closed = once(response, 'close');
    this.turn = response;
    const asked = { ...call, ...newNames(), response, takeOver: () => undefined };
    await generation.answer(asked).catch((error: unknown) => {
      refusals.refused(asked, error);
      throw error;
    });
    if (this.socket.readyState !== this.socket.OPEN) response.destroy();
    await closed;
    this.turn = undefined;
    // The exchange has ended because the client does not read.
    if (response.destroyed) this.socket.terminate();
  }

  private forget(responseId: unknown): void {
    if (this.last?.id === responseId) this.last = undefined;
  }

  private refuse(error: BatonError): void {
    const { status, body } = renderResponseError(error);
    const refusal = JSON.parse(body) as object;
    if (this.socket.readyState === this.socket.OPEN) {
      this.socket.send(asciiJson({ type: 'error', status, ...refusal }));
    }
  }

  private expire(): void {
    this.waiting.length = 0;
    this.refuse(new BatonError('websocket_connection_limit_reached'));
    this.socket.close();
  }
}

/** Sends each event as its own message. */
function listenerAt(socket: WebSocket): Listener {
  return {
    get isOverfull() {
      return socket.bufferedAmount > MAX_UNSENT_BYTES;
    },
    takeEvents: (events) => {
      if (socket.readyState !== socket.OPEN) return;
      for (const [, data] of events.matchAll(/^data: (\{.*)$/gm)) socket.send(data!);
    },
    endStream: () => undefined,
  };
}

/** Each turn has its own arrival time and id. */
function newNames() {
  return {
    arrivalUs: wallUsOf(),
    requestId: randomBytes(16).toString('hex'),
    clientRequestId: undefined,
  };
}

function messageBytes(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
