import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** The body as received. */
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
}

/** @param nth number of the request, from 1 */
export type Script = (seen: Seen, response: ServerResponse, nth: number) => void;

/** A server under a test's control that keeps its requests. */
export class ScriptedServer {
  readonly seen: Seen[] = [];
  private readonly pages = new Map([['/health', '']]);
  /** Answers that were cut short. */
  closed = 0;
  /** Answers sent to the end. */
  answered = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param tls  key and certificate in PEM, for https */
  static async start(
    script: Script,
    tls?: { readonly key: string; readonly cert: string },
  ): Promise<ScriptedServer> {
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        if (request.method === 'GET') return void self.look(request.url ?? '', response);
        const text = Buffer.concat(parts).toString();
        const body = JSON.parse(text) as Record<string, unknown>;
        const seen = { path: request.url ?? '', body, text, headers: request.headers };
        self.seen.push(seen);
        response.once(
          'close',
          () => (self[response.writableFinished ? 'answered' : 'closed'] += 1),
        );
        script(seen, response, self.seen.length);
      });
    };
    const http = tls === undefined ? createServer(answer) : createSecureServer(tls, answer);
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const self = new ScriptedServer(
      http,
      `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(http.address() as AddressInfo).port}`,
    );
    return self;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Sets the answer of `path` from now on; `/health` has its own. */
  shows(path: string, text: string): void {
    this.pages.set(path, text);
  }

  private look(path: string, response: ServerResponse): void {
    const page = this.pages.get(path);
    response.writeHead(page === undefined ? 404 : 200).end(page);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

export const json = (response: ServerResponse, body: object, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export const event = (text: string, reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'up', choices: [{ index: 0, text, finish_reason: reason }] })}\n\n`;

/** Two words, streamed or whole. */
export const decodes: Script = ({ body }, response) => {
  if (body['stream'] !== true) {
    json(response, { id: 'up', choices: [{ index: 0, text: 'whole é', finish_reason: 'length' }] });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${event('one ')}${event('é', 'length')}data: [DONE]\n\n`);
};
