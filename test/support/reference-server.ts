import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('known-delays.mjs', import.meta.url));

/** One request as the reference server saw it, ms since the Unix epoch. */
export interface Stamp {
  readonly id: string;
  readonly receivedMs: number;
  readonly writtenMs: readonly number[];
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * A server with known delays in a separate process, so that it does not share an event loop with
 * the test.
 */
export class ReferenceServer {
  private constructor(
    private readonly child: ChildProcess,
    readonly origin: string,
  ) {}

  static async start(): Promise<ReferenceServer> {
    const child = spawn(process.execPath, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [port] = (await once(child.stdout!, 'data')) as [Buffer];
    return new ReferenceServer(child, `http://127.0.0.1:${port.toString().trim()}`);
  }

  /** Stamps of requests with this prefix of their id, in order of arrival. */
  async stamps(idPrefix = ''): Promise<Stamp[]> {
    const all = (await (await fetch(`${this.origin}/stamps`)).json()) as Stamp[];
    return all.filter(({ id }) => id?.startsWith(idPrefix));
  }

  async stop(): Promise<void> {
    const gone = once(this.child, 'exit');
    this.child.stdin?.end();
    await gone;
  }
}
