import { WorkRefused } from './work-refused';
import { type ThreadOptions, type CpuBudget, WorkThread } from './work-thread';

export interface WorkPoolOptions extends ThreadOptions {
  /** Maximum number of threads. Each starts with the first task that finds no free one. */
  readonly threads: number;
  /** Maximum number of tasks that wait for a thread. */
  readonly maxWaiting: number;
  /** Maximum size of the inputs that wait, bytes. One input may wait alone at any size. */
  readonly maxWaitingBytes: number;
  /** Maximum wait of a task for a thread, ms. */
  readonly maxWaitMs: number;
  /** A thread without a task ends after this time, ms, and gives its memory back. */
  readonly idleMs: number;
}

export interface RunOptions {
  /** Aborts when the result is no longer awaited; the task then ends. */
  readonly signal?: AbortSignal | undefined;
  /** Shared by the tasks of one request; default: each task has `ThreadOptions.cpuMs`. */
  readonly budget?: CpuBudget | undefined;
  /** Size of the task's input, bytes. Default: 0. */
  readonly bytes?: number;
  /**
   * True when an earlier task of the same request has run. Such a task runs before those that begin
   * a request, so that few requests are under way and threads still have their intermediate
   * results. Default: false.
   */
  readonly isContinued?: boolean;
}

interface Waiting {
  readonly task: unknown;
  readonly budget: CpuBudget | undefined;
  readonly bytes: number;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
  /** The thread that has the task; undefined while it waits. */
  thread: WorkThread | undefined;
}

/**
 * Threads for work that would block the event loop. Every task has a limit on its CPU time and its
 * memory. The queue in front of the threads has limits on its length, its bytes and the wait.
 */
export class WorkPool {
  private readonly threads = new Map<WorkThread, NodeJS.Timeout | undefined>();
  private readonly continued: Waiting[] = [];
  private readonly beginning: Waiting[] = [];
  private waitingBytes = 0;
  private isClosed = false;

  constructor(private readonly options: WorkPoolOptions) {}

  /** Number of running threads. */
  get size(): number {
    return this.threads.size;
  }

  /**
   * The result of a task.
   *
   * @throws WorkRefused, or what the task threw
   */
  run(task: unknown, options: RunOptions = {}): Promise<unknown> {
    const { signal, budget, bytes = 0, isContinued = false } = options;
    if (signal?.aborted === true || this.isClosed) return Promise.reject(new WorkRefused('left'));
    if (budget !== undefined && budget.cpuMs <= 0) {
      return Promise.reject(new WorkRefused('too-complex'));
    }
    if (!this.hasRoom(bytes)) return Promise.reject(new WorkRefused('busy'));
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => this.giveUp(waiting, 'busy'), this.options.maxWaitMs);
      const onLeave = (): void => this.giveUp(waiting, 'left');
      const settled = (): void => {
        clearTimeout(timeout);
        signal?.removeEventListener('abort', onLeave);
      };
      const waiting: Waiting = {
        task,
        budget,
        bytes,
        thread: undefined,
        done: (value) => {
          settled();
          resolve(value);
        },
        failed: (error) => {
          settled();
          reject(error as Error);
        },
      };
      timeout.unref();
      signal?.addEventListener('abort', onLeave, { once: true });
      (isContinued ? this.continued : this.beginning).push(waiting);
      this.waitingBytes += bytes;
      this.advance();
    });
  }

  close(): void {
    this.isClosed = true;
    for (let next = this.takeNext(); next !== undefined; next = this.takeNext()) {
      next.failed(new WorkRefused('left'));
    }
    for (const thread of [...this.threads.keys()]) thread.endThread(new WorkRefused('left'));
  }

  /** A task under way is never `busy`: its thread has its own deadline. */
  private giveUp(waiting: Waiting, reason: 'busy' | 'left'): void {
    if (waiting.thread !== undefined) {
      if (reason === 'left') waiting.thread.endThread(new WorkRefused('left'));
      return;
    }
    for (const queue of [this.continued, this.beginning]) {
      const index = queue.indexOf(waiting);
      if (index === -1) continue;
      queue.splice(index, 1);
      this.waitingBytes -= waiting.bytes;
      waiting.failed(new WorkRefused(reason));
    }
  }

  private get waitingCount(): number {
    return this.continued.length + this.beginning.length;
  }

  private hasRoom(bytes: number): boolean {
    const { waitingCount, waitingBytes } = this;
    const { maxWaiting, maxWaitingBytes } = this.options;
    if (waitingCount >= maxWaiting) return false;
    return waitingCount === 0 || waitingBytes + bytes <= maxWaitingBytes;
  }

  private takeNext(): Waiting | undefined {
    const next = this.continued.shift() ?? this.beginning.shift();
    this.waitingBytes -= next?.bytes ?? 0;
    return next;
  }

  private advance(): void {
    while (this.waitingCount > 0) {
      const thread = this.freeThread();
      if (thread === undefined) return;
      const next = this.takeNext()!;
      next.thread = thread;
      clearTimeout(this.threads.get(thread));
      thread.run(next);
    }
  }

  private freeThread(): WorkThread | undefined {
    const free = [...this.threads.keys()].find(({ isFree }) => isFree);
    if (free !== undefined || this.threads.size >= this.options.threads) return free;
    const thread = new WorkThread(
      this.options,
      () => this.onFree(thread),
      () => this.onEnd(thread),
    );
    this.threads.set(thread, undefined);
    return thread;
  }

  private onFree(thread: WorkThread): void {
    const idle = setTimeout(() => thread.endThread(new WorkRefused('left')), this.options.idleMs);
    this.threads.set(thread, idle.unref());
    this.advance();
  }

  private onEnd(thread: WorkThread): void {
    clearTimeout(this.threads.get(thread));
    this.threads.delete(thread);
    if (!this.isClosed) this.advance();
  }
}
