import { UsageError } from '@baton/config';
import type { ChildMessage, Stage } from '@baton/contract';
import { withEngines } from './cluster-plan';
import { type ProcessEvents, type ProcessSpec, SupervisedProcess } from './supervised-process';

type StartEngines = Extract<ChildMessage, { kind: 'start-engines' }>;

/** Time for a process to close its connections after its drain. */
const CLOSE_MS = 3_000;

export interface SupervisorEvents {
  /** A line a process wrote, or a sentence about it. */
  onLine(name: string, line: string): void;
  onReady(name: string): void;
  /** @param exitCode of the cluster: 2 when the process found its configuration invalid */
  onGivenUp(sentence: string, exitCode: number): void;
  /** The API requests engines that join. Throws UsageError when there can be none. */
  onStartEngines?(role: Stage, count: number): void;
  /** The API cancels those that are not ready. Returns the number of cancelled processes. */
  onCancelEngines?(): number;
  /** A process has ended and did not have to. */
  onEnded?(name: string, pid: number): void;
  /** A worker has ended as planned. */
  onLeft?(name: string): void;
}

/**
 * Owns the processes of a cluster from start to stop; workers may join and leave in between. The
 * API is stopped first: it refuses new requests and waits for those under way, which still need the
 * engines. Then the engines are stopped, which have no work left.
 */
export class Supervisor {
  private readonly processes = new Map<string, SupervisedProcess>();
  private isStopping = false;

  constructor(
    specs: readonly ProcessSpec[],
    private readonly events: SupervisorEvents,
  ) {
    for (const spec of specs) this.own(spec);
  }

  /** Number of processes that run or will be restarted. */
  get size(): number {
    return this.processes.size;
  }

  start(): void {
    for (const each of this.processes.values()) each.start();
  }

  /** Starts a further worker. */
  add(spec: ProcessSpec): void {
    if (!this.isStopping) this.own(spec).start();
  }

  /** Ends a worker that is no longer needed. */
  dismiss(name: string): void {
    const process = this.processes.get(name);
    this.processes.delete(name);
    void process?.stop(CLOSE_MS);
  }

  /** Drains for at most `shutdownTimeoutMs` in all, then leaves nothing behind. */
  async stop(shutdownTimeoutMs: number): Promise<void> {
    this.isStopping = true;
    const deadlineMs = performance.now() + shutdownTimeoutMs;
    const { api, workers } = this.byKind();
    await stopAll(api, shutdownTimeoutMs + CLOSE_MS);
    const leftMs = Math.max(0, deadlineMs - performance.now());
    await stopAll(workers, leftMs + CLOSE_MS);
  }

  /** Kills all processes. */
  kill(): void {
    this.isStopping = true;
    for (const each of this.processes.values()) each.kill();
  }

  private own(spec: ProcessSpec): SupervisedProcess {
    const events: ProcessEvents = {
      onLine: (name, line) => this.events.onLine(name, line),
      onReady: (name) => this.events.onReady(name),
      onGivenUp: (sentence, exitCode) => this.events.onGivenUp(sentence, exitCode),
      onEnded: (name, pid) => this.events.onEnded?.(name, pid),
      onMessage: (_name, message) => this.onMessage(process, message),
      onLeft: (name) => {
        this.processes.delete(name);
        this.events.onLine(name, 'has left the cluster');
        this.events.onLeft?.(name);
      },
    };
    const process: SupervisedProcess = new SupervisedProcess(spec, events);
    this.processes.set(spec.name, process);
    return process;
  }

  private onMessage(from: SupervisedProcess, message: ChildMessage): void {
    if (message.kind === 'engines') from.setNextSpec(withEngines(from.spec, message.engines));
    if (message.kind === 'start-engines') this.startEngines(from, message);
    if (message.kind !== 'cancel-engines') return;
    const count = this.events.onCancelEngines?.() ?? 0;
    from.send({ kind: 'engines-cancelled', id: message.id, count });
  }

  private startEngines(from: SupervisedProcess, { id, role, count }: StartEngines): void {
    try {
      this.events.onStartEngines?.(role, count);
      from.send({ kind: 'engines-started', id });
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      from.send({ kind: 'engines-started', id, refusal: error.message });
    }
  }

  private byKind(): Record<'api' | 'workers', SupervisedProcess[]> {
    const all = [...this.processes.values()];
    const isApi = ({ spec }: SupervisedProcess): boolean => spec.name === 'api';
    return { api: all.filter(isApi), workers: all.filter((each) => !isApi(each)) };
  }
}

async function stopAll(processes: readonly SupervisedProcess[], deadlineMs: number): Promise<void> {
  await Promise.all(processes.map((each) => each.stop(deadlineMs)));
}
