import type { ExecutedRequest, UpstreamFailure } from '@baton/contract';
import { isObject } from '@baton/kernel';
import { Agent, type Dispatcher } from 'undici';
import type { Body, JsonObjectText } from './json-object-text';
import { eventsIn, GarbledStream } from './sse-reader';

/** The last event of a stream. */
export const DONE_DATA = '[DONE]';
/** Most bytes of a body that is read as a whole. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const CONNECT_MS = 5_000;
const LOOK_MS = 2_000;
/** Most bytes of the answer to a small request. */
const MAX_LOOK_BYTES = 64 * 1024;
const MAX_METRICS_BYTES = 4 * 1024 * 1024;

export interface UpstreamOptions {
  /** `http://host:port`, without a path. */
  readonly url: string;
  readonly apiKey: string | undefined;
  /** Time without a byte after which a leg fails, in ms. */
  readonly timeoutMs: number;
  /** Trusted certificate authorities of an https server, as PEM. Undefined: the well-known ones. */
  readonly ca?: readonly string[] | undefined;
}

export interface UpstreamLeg {
  readonly request: Pick<ExecutedRequest, 'path' | 'requestId'>;
  readonly body: JsonObjectText;
  /** Headers in addition to those of every leg. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
}

/** The server was not reached, or did not answer in time. The effect of the request is unknown. */
export class UpstreamLost extends Error {
  constructor(
    readonly why: 'unreachable' | 'timeout' | 'cut' | 'garbled',
    cause: unknown,
  ) {
    super(`upstream ${why}`, { cause });
  }
}

/** The server's own refusal. */
export class UpstreamRefusal extends Error {
  constructor(readonly failure: UpstreamFailure) {
    super(failure.message);
  }
}

/** One vLLM-compatible HTTP server. No redirect is followed. */
export class UpstreamServer {
  private readonly agent: Agent;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(private readonly options: UpstreamOptions) {
    const { apiKey, timeoutMs, ca } = options;
    this.agent = new Agent({
      connect: { timeout: CONNECT_MS, ...(ca === undefined ? {} : { ca: [...ca] }) },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    this.headers = {
      'content-type': 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    };
  }

  get url(): string {
    return this.options.url;
  }

  /** The answer's body, once its head has come. @throws UpstreamLost, UpstreamRefusal */
  async post(leg: UpstreamLeg): Promise<Dispatcher.ResponseData['body']> {
    return (await this.send(leg)).body;
  }

  /**
   * The object in the answer. Empty when the answer streams. @throws UpstreamLost, UpstreamRefusal
   */
  async request(leg: UpstreamLeg): Promise<Body> {
    const { headers, body } = await this.send(leg);
    if (!String(headers['content-type']).startsWith('text/event-stream')) {
      return upstreamBody(await wholeText(body));
    }
    for await (const data of eventsIn(body)) if (data !== DONE_DATA) refuseError(data);
    return {};
  }

  /** The immediate answer to a small request. Undefined: there is none. */
  async query(origin: string, path: string): Promise<Body | undefined> {
    const text = await this.look(origin, path, MAX_LOOK_BYTES);
    try {
      return text === undefined ? undefined : upstreamBody(text);
    } catch {
      return undefined;
    }
  }

  async isHealthy(): Promise<boolean> {
    return (await this.look(this.url, '/health', MAX_LOOK_BYTES)) !== undefined;
  }

  /** The server's page of metrics. Undefined: it has none, or the page is too long. */
  metrics(): Promise<string | undefined> {
    return this.look(this.url, '/metrics', MAX_METRICS_BYTES);
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async send(leg: UpstreamLeg): Promise<Dispatcher.ResponseData> {
    const { request, body, headers, signal } = leg;
    const answer = await lossless(() =>
      this.agent.request({
        origin: this.url,
        path: request.path,
        method: 'POST',
        headers: { ...this.headers, ...headers, 'x-request-id': request.requestId },
        body: body.text,
        signal,
      }),
    );
    if (answer.statusCode === 200) return answer;
    throw upstreamRefusal(answer.statusCode, await wholeText(answer.body));
  }

  private async look(origin: string, path: string, maxBytes: number): Promise<string | undefined> {
    const signal = AbortSignal.timeout(LOOK_MS);
    try {
      const answer = await this.agent.request({ origin, path, method: 'GET', signal });
      const text = await wholeText(answer.body, maxBytes);
      return answer.statusCode === 200 ? text : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Converts every connection error into `UpstreamLost`. @throws UpstreamLost */
async function lossless<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw lostBy(error);
  }
}

export function lostBy(error: unknown): unknown {
  if (error instanceof UpstreamLost || error instanceof UpstreamRefusal) return error;
  if (error instanceof GarbledStream) return new UpstreamLost('garbled', error);
  const { code = '', name = '' } = error as NodeJS.ErrnoException;
  if (name === 'AbortError') return error;
  if (/TIMEOUT/.test(code)) return new UpstreamLost('timeout', error);
  if (/^(UND_ERR_SOCKET|ECONNRESET|UND_ERR_ABORTED)$/.test(code)) {
    return new UpstreamLost('cut', error);
  }
  return new UpstreamLost('unreachable', error);
}

/** @throws UpstreamLost when the body is cut or longer than `maxBytes` */
export async function wholeText(
  body: AsyncIterable<Uint8Array>,
  maxBytes = MAX_BODY_BYTES,
): Promise<string> {
  return lossless(async () => {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of body) {
      bytes += part.length;
      if (bytes > maxBytes) throw new GarbledStream('a body is too long');
      parts.push(part);
    }
    return Buffer.concat(parts).toString('utf8');
  });
}

/** @throws UpstreamLost */
export function upstreamBody(text: string): Body {
  const value = parsed(text);
  if (!isObject(value)) {
    throw new UpstreamLost('garbled', new GarbledStream('no JSON object'));
  }
  return value as Record<string, unknown>;
}

/**
 * Checks an event of a stream. @throws UpstreamLost when it is not an object, UpstreamRefusal when
 * it is an error instead of an answer
 */
export function refuseError(data: string): void {
  const event = upstreamBody(data);
  if (event['error'] != null && event['choices'] === undefined) throw upstreamRefusal(500, data);
}

/** The refusal in an error body of vLLM or OpenAI, or in any other body. */
function upstreamRefusal(status: number, text: string): UpstreamRefusal {
  const body = parsed(text) as { error?: unknown; detail?: unknown } | undefined;
  const error = (typeof body?.error === 'object' ? body.error : undefined) as
    Readonly<Record<string, unknown>> | null | undefined;
  const found = [error?.['message'], body?.error, body?.detail].find(
    (one) => typeof one === 'string',
  );
  const message = (found as string | undefined) ?? `The upstream server answered with ${status}.`;
  const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const code = error?.['code'];
  return new UpstreamRefusal({
    code: 'upstream_error',
    status: status >= 400 && status <= 599 ? status : 502,
    message: message.slice(0, 4_096),
    param: textIn(error?.['param']),
    type: textIn(error?.['type']),
    upstreamCode: typeof code === 'number' ? code : textIn(code),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
