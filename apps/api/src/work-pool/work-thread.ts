import { Worker } from 'node:worker_threads';
import type { ThreadMessage } from './serve-work';
import { threadCpuMs } from './thread-time';
import { WorkRefused } from './work-refused';

export interface ThreadOptions {
  /** A CommonJS file that calls `serveWork`. */
  readonly entry: string;
  /** The `workerData` of each thread: the common data of all tasks. */
  readonly data: unknown;
  /** Maximum CPU time of one task, ms. */
  readonly cpuMs: number;
  /** Maximum wall time of one task, ms. */
  readonly wallMs: number;
  /** Heap of one thread, MiB: for the common data and one task. */
  readonly heapMb: number;
}

/** The rest of the CPU time of several tasks. */
export interface CpuBudget {
  /** CPU time, ms. */
  cpuMs: number;
}

/** A task under way, with the functions that end it. */
export interface RunningTask {
  readonly task: unknown;
  /** Undefined: the task has `ThreadOptions.cpuMs` for itself. */
  readonly budget: CpuBudget | undefined;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
}

/** The shortest time until the next look at a task that has not used up its CPU time. */
const LOOK_AGAIN_MS = 50;
/** Size of the young generation, for objects of one task; V8's default on 64 bits. */
const YOUNG_HEAP_MB = 32;

/** A thread of a pool: one task at a time. It ends with a task that exceeds its limits. */
export class WorkThread {
  private readonly worker: Worker;
  private systemId: number | undefined;
  private isReady = false;
  private running: RunningTask | undefined;
  private deadline: NodeJS.Timeout | undefined;
  private startedMs = 0;
  private cpuBeforeMs: number | undefined;

  /**
   * @param onFree called when the thread can take another task @param onEnd called when the thread
   * has ended
   */
  constructor(
    private readonly options: ThreadOptions,
    private readonly onFree: () => void,
    private readonly onEnd: () => void,
  ) {
    const { entry, data: workerData, heapMb } = options;
    this.worker = new Worker(entry, {
      workerData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    });
    this.worker.unref();
    this.worker.on('message', (message: ThreadMessage) => this.onMessage(message));
    this.worker.on('error', (error) =>
      this.endThread(isOutOfMemory(error) ? TOO_COMPLEX() : error),
    );
    this.worker.on('exit', () => this.endThread(new Error('a thread of the pool has ended')));
  }

  get isFree(): boolean {
    return this.running === undefined;
  }

  run(running: RunningTask): void {
    this.running = running;
    if (this.isReady) this.begin();
  }

  /** Ends the thread, and its task with this error. */
  endThread(error: unknown): void {
    const running = this.settled();
    this.worker.removeAllListeners();
    // A thread that is ending reports no late errors.
    this.worker.on('error', () => undefined);
    void this.worker.terminate();
    this.onEnd();
    running?.failed(error);
  }

  private onMessage(message: ThreadMessage): void {
    if (message.kind === 'ready') {
      this.systemId = message.systemId;
      this.isReady = true;
      if (this.running !== undefined) this.begin();
      return;
    }
    const running = this.settled();
    this.onFree();
    if (message.kind === 'done') running?.done(message.value);
    else running?.failed(message.error);
  }

  private begin(): void {
    this.startedMs = performance.now();
    this.cpuBeforeMs = threadCpuMs(this.systemId);
    this.worker.postMessage(this.running?.task);
    this.watch(this.allowedMs);
  }

  /** The task that has ended; its time is taken from its budget. */
  private settled(): RunningTask | undefined {
    clearTimeout(this.deadline);
    const { running } = this;
    if (running?.budget !== undefined) running.budget.cpuMs -= this.usedMs();
    this.running = undefined;
    return running;
  }

  private get allowedMs(): number {
    return Math.max(0, this.running?.budget?.cpuMs ?? this.options.cpuMs);
  }

  /** CPU time of the task so far. Wall time where the system does not expose CPU time. */
  private usedMs(): number {
    const now = threadCpuMs(this.systemId);
    if (now === undefined || this.cpuBeforeMs === undefined) {
      return this.startedMs === 0 ? 0 : performance.now() - this.startedMs;
    }
    return now - this.cpuBeforeMs;
  }

  /** On a busy machine a task gets its CPU time late, so the watch repeats. */
  private watch(afterMs: number): void {
    this.deadline = setTimeout(() => {
      const left = Math.min(this.allowedMs - this.usedMs(), this.wallLeftMs());
      if (left <= 0) this.endThread(TOO_COMPLEX());
      else this.watch(Math.max(LOOK_AGAIN_MS, left));
    }, afterMs);
    this.deadline.unref();
  }

  private wallLeftMs(): number {
    return this.options.wallMs - (performance.now() - this.startedMs);
  }
}

const TOO_COMPLEX = (): WorkRefused => new WorkRefused('too-complex');

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
