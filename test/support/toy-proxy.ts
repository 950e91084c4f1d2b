import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { HOLD } from './hold';

type Body = Record<string, unknown>;

export interface ToyProxyOptions {
  readonly prefill: string;
  readonly decode: string;
  /** It drops prefill's answer, so that decode computes. */
  readonly forgets?: boolean;
}

/** The behaviour of vLLM's toy proxy with a request, and nothing more. */
export class ToyProxy {
  private constructor(private readonly server: Server) {}

  static async start(options: ToyProxyOptions): Promise<ToyProxy> {
    const server = createServer((message, response) => {
      relay(message, response, options).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500);
        response.end(String(error));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ToyProxy(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

async function relay(
  message: IncomingMessage,
  response: ServerResponse,
  { prefill, decode, forgets }: ToyProxyOptions,
): Promise<void> {
  const leave = new AbortController();
  response.once('close', () => leave.abort());
  const asked = JSON.parse(await textOf(message)) as Body;
  const requestId = randomUUID();
  const send = (base: string, body: Body): Promise<Response> =>
    fetch(new URL(message.url ?? '/', base), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'X-Request-Id': requestId },
      body: JSON.stringify(body),
      signal: leave.signal,
    });
  const held = await send(prefill, prefillBody(asked));
  if (!held.ok) throw new Error(`prefill answers ${held.status}`);
  const { kv_transfer_params: params } = (await held.json()) as { kv_transfer_params?: Body };
  const brought = forgets === true || !params ? {} : { kv_transfer_params: params };
  const answer = await send(decode, { ...asked, ...brought });
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  if (answer.body === null) response.end();
  else
    Readable.fromWeb(answer.body as never)
      .on('error', () => response.destroy())
      .pipe(response);
}

function prefillBody({ stream_options: _options, min_tokens: _least, ...asked }: Body): Body {
  const body = { ...asked, kv_transfer_params: HOLD, stream: false, max_tokens: 1 };
  return 'max_completion_tokens' in asked ? { ...body, max_completion_tokens: 1 } : body;
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
