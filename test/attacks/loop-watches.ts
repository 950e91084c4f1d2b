import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '../support/wait';

const LOOP_WATCH = fileURLToPath(new URL('loop-watch.cjs', import.meta.url));
/** Each watch writes every 50 ms. */
const WRITTEN_MS = 120;
const OWN_RESOLUTION_MS = 5;

export interface Watched {
  /** The longest time for which the loop of the API was held, ms of CPU time. */
  readonly heldMs: number;
  /** The longest wait of a process of the cluster, or of the test, for a CPU, ms. */
  readonly waitedMs: number;
}

/** The watches in the processes of a cluster: see `loop-watch.cjs`. */
export class LoopWatches {
  private readonly folder = mkdtempSync(join(tmpdir(), 'baton-loop-'));
  private readonly own = monitorEventLoopDelay({ resolution: OWN_RESOLUTION_MS });

  constructor() {
    this.own.enable();
  }

  /** The environment variables of the cluster. */
  get env(): Readonly<Record<string, string>> {
    return { LOOP_WATCH_FOLDER: this.folder, NODE_OPTIONS: `--require ${LOOP_WATCH}` };
  }

  begin(): void {
    this.own.reset();
    for (const pid of this.pids()) if (isAlive(pid)) process.kill(pid, 'SIGUSR2');
  }

  /** The measurements since `begin`. */
  async end(apiPid: number): Promise<Watched> {
    const ownMs = this.own.max / 1e6 - OWN_RESOLUTION_MS;
    await pause(WRITTEN_MS);
    const waits = this.pids().map((pid) => this.of(pid).waitedMs);
    return { heldMs: this.of(apiPid).heldMs, waitedMs: Math.max(ownMs, ...waits) };
  }

  /** Heap and buffers of the main thread that are in use after a collection, MiB. */
  async usedMib(pid: number): Promise<number> {
    const path = join(this.folder, `${pid}.memory`);
    rmSync(path, { force: true });
    process.kill(pid, 'SIGWINCH');
    await waitUntil(() => existsSync(path), { what: `process ${pid} says what memory it uses` });
    return Number(readFileSync(path, 'utf8')) / 1024 ** 2;
  }

  close(): void {
    this.own.disable();
    rmSync(this.folder, { recursive: true });
  }

  private pids(): number[] {
    return readdirSync(this.folder).map(Number).filter(Number.isInteger);
  }

  private of(pid: number): Watched {
    return JSON.parse(readFileSync(join(this.folder, String(pid)), 'utf8')) as Watched;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
