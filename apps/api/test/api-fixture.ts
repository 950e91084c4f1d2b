import { type BatonConfig, defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, InProcessHub } from '@baton/transport';
import { ApiServer } from '../src/api-server';
import { FakeEngine, type FakeEngineOptions } from './fake-engine';

export interface FixtureOptions {
  readonly config?: Partial<BatonConfig>;
  readonly engines?: readonly FakeEngineOptions[];
  /** Default: one that writes nothing. */
  readonly log?: ReturnType<typeof createLogger>;
}

/** A front on a free port with scripted engines behind it, all in this process. */
export class ApiFixture {
  private constructor(
    readonly hub: InProcessHub,
    readonly api: ApiServer,
    readonly engines: readonly FakeEngine[],
  ) {}

  static async start(options: FixtureOptions = {}): Promise<ApiFixture> {
    const hub = new InProcessHub();
    const wanted = options.engines ?? [{}];
    const engines = await Promise.all(wanted.map((engine) => FakeEngine.start(hub, engine)));
    const config = defaultConfig({
      topology: '1A',
      port: 0,
      logLevel: 'silent',
      ...options.config,
    });
    const api = await ApiServer.start({
      config,
      transport: attachInProcess(hub),
      log: options.log ?? createLogger({ name: 'api', level: config.logLevel }),
    });
    return new ApiFixture(hub, api, engines);
  }

  /** A second front of the same cluster. */
  static beside({ hub }: ApiFixture): Promise<ApiServer> {
    const config = defaultConfig({ topology: '1A', port: 0, logLevel: 'silent' });
    const log = createLogger({ name: 'api', level: 'silent' });
    return ApiServer.start({ config, transport: attachInProcess(hub), log });
  }

  get engine(): FakeEngine {
    return this.engines[0] as FakeEngine;
  }

  get port(): number {
    return Number(new URL(this.api.url).port);
  }

  post(path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.api.url}${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
      headers: { 'content-type': 'application/json', ...(init.headers as Record<string, string>) },
    });
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await Promise.all(this.engines.map((engine) => engine.stop()));
  }
}

/** Yields the events of a stream as they come, without `data: `. */
export async function* eventsOf(answer: Response): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const bytes of answer.body ?? []) {
    rest += decoder.decode(bytes, { stream: true });
    const events = rest.split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) yield event.replace(/^data: /, '');
  }
}

/** Text, finish reason and last event of a whole stream of one choice. */
export async function readStream(answer: Response): Promise<ReadStream> {
  const events: string[] = [];
  for await (const event of eventsOf(answer)) events.push(event);
  const chunks = events.filter((event) => event !== '[DONE]').map((e) => JSON.parse(e) as Chunk);
  return {
    events,
    chunks,
    text: chunks.map((c) => c.choices?.[0]?.text ?? c.choices?.[0]?.delta?.content ?? '').join(''),
    finishReason: chunks.map((c) => c.choices?.[0]?.finish_reason).findLast((r) => r != null),
    error: chunks.find((chunk) => chunk.error)?.error,
  };
}

export interface Chunk {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint?: string;
  readonly error?: { readonly message: string; readonly code: unknown; readonly type: string };
  readonly choices?: readonly {
    readonly index: number;
    readonly text?: string;
    readonly delta?: { readonly role?: string; readonly content?: string };
    readonly finish_reason: string | null;
  }[];
}

export interface ReadStream {
  readonly events: readonly string[];
  readonly chunks: readonly Chunk[];
  readonly text: string;
  readonly finishReason: string | null | undefined;
  readonly error: Chunk['error'];
}
