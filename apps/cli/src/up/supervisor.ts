import { type ProcessEvents, type ProcessSpec, SupervisedProcess } from './supervised-process';

/** Time that a process gets to close its connections after its drain. */
const FAREWELL_MS = 3_000;

/**
 * Owns the processes of a cluster from start to stop. The API is stopped first: it refuses new requests and waits for those under
 * way, for which the engines must still run. Then the engines, which have nothing left to do.
 */
export class Supervisor {
  private readonly api: SupervisedProcess[];
  private readonly workers: SupervisedProcess[];

  constructor(specs: readonly ProcessSpec[], events: ProcessEvents) {
    const all = specs.map((spec) => ({ spec, process: new SupervisedProcess(spec, events) }));
    const ofRole = (isApi: boolean): SupervisedProcess[] =>
      all.filter(({ spec }) => (spec.name === 'api') === isApi).map(({ process }) => process);
    this.api = ofRole(true);
    this.workers = ofRole(false);
  }

  start(): void {
    for (const each of [...this.api, ...this.workers]) each.start();
  }

  /** Drains for at most `shutdownTimeoutMs` in all, then leaves nothing behind. */
  async stop(shutdownTimeoutMs: number): Promise<void> {
    const deadlineMs = performance.now() + shutdownTimeoutMs;
    await stopAll(this.api, shutdownTimeoutMs + FAREWELL_MS);
    const leftMs = Math.max(0, deadlineMs - performance.now());
    await stopAll(this.workers, leftMs + FAREWELL_MS);
  }

  /** Ends everything at once. */
  kill(): void {
    for (const each of [...this.api, ...this.workers]) each.kill();
  }
}

async function stopAll(processes: readonly SupervisedProcess[], deadlineMs: number): Promise<void> {
  await Promise.all(processes.map((each) => each.stop(deadlineMs)));
}
