import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import type { BatonError } from '@baton/contract';
import type { Dialect } from '@baton/openai';
import type { WireTap } from './wire-tap';
import { renderErrorAt } from './error-renderer';
import { isLongBody, longBody } from './streaming/long-body';

export interface HttpAnswerOptions {
  readonly dialect: Dialect;
  /**
   * True while the process drains; answers then close the connection, so that the client connects
   * elsewhere.
   */
  readonly isClosing: () => boolean;
  /** The listener to the bytes that are sent, if any. */
  readonly tap?: WireTap | undefined;
}

/**
 * The HTTP side of one answer that Fastify does not send: its headers and its two plain endings.
 * The response already has the headers of every answer.
 */
export class HttpAnswer {
  private isBroken = false;

  /** The listener to the bytes that are sent. */
  readonly tap: WireTap | undefined;

  constructor(
    readonly response: ServerResponse,
    private readonly options: HttpAnswerOptions,
  ) {
    this.tap = options.tap;
  }

  headers(): Record<string, string> {
    return this.options.isClosing() ? { connection: 'close' } : {};
  }

  /** Injects a fault: from now on only the first half of a body is sent, as if it were complete. */
  breakBody(): void {
    this.isBroken = true;
  }

  /** @param body text, or its bytes */
  sendJson(body: string | Uint8Array): void {
    const shown = this.isBroken ? body.slice(0, body.length / 2) : body;
    this.send(200, { 'content-type': 'application/json' }, shown);
  }

  sendError(error: BatonError): void {
    const { status, headers, body } = renderErrorAt(
      this.response.req.url,
      error,
      this.options.dialect,
    );
    this.send(status, headers, body);
  }

  private send(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
  ): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    const length = { 'content-length': Buffer.byteLength(body) };
    response.writeHead(status, { ...this.headers(), ...headers, ...length });
    // A client that leaves ends the pipeline with an error, and needs no more bytes.
    if (isLongBody(body)) pipeline(longBody(body), response, () => undefined);
    else response.end(body);
    this.tap?.head(status, headers);
    this.tap?.bytes(typeof body === 'string' ? body : Buffer.from(body).toString());
    this.tap?.endAnswer();
  }
}
