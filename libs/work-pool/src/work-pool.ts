import { WorkRefused } from './work-refused';
import { type ThreadOptions, type CpuBudget, WorkThread } from './work-thread';

export interface WorkPoolOptions extends ThreadOptions {
  /** Maximum number of threads. Each starts with the first task that finds no free one. */
  readonly threads: number;
  /** Maximum number of tasks that wait for a thread. */
  readonly maxWaiting: number;
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
}

interface Waiting {
  readonly task: unknown;
  readonly budget: CpuBudget | undefined;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
  /** The thread that has the task; undefined while it waits. */
  thread: WorkThread | undefined;
}

/**
 * Threads for work that would block the event loop. Every task has a limit on its CPU time and its
 * memory. The queue in front of the threads has a limit on its length and on the wait.
 */
export class WorkPool {
  private readonly threads = new Map<WorkThread, NodeJS.Timeout | undefined>();
  private readonly waiting: Waiting[] = [];
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
  run(task: unknown, { signal, budget }: RunOptions = {}): Promise<unknown> {
    if (signal?.aborted === true || this.isClosed) return Promise.reject(new WorkRefused('left'));
    if (budget !== undefined && budget.cpuMs <= 0) {
      return Promise.reject(new WorkRefused('too-complex'));
    }
    if (this.waiting.length >= this.options.maxWaiting) {
      return Promise.reject(new WorkRefused('busy'));
    }
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => this.giveUp(waiting, 'busy'), this.options.maxWaitMs);
      const onLeave = (): void => this.giveUp(waiting, 'left');
      const settled = (): void => {
        clearTimeout(patience);
        signal?.removeEventListener('abort', onLeave);
      };
      const waiting: Waiting = {
        task,
        budget,
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
      patience.unref();
      signal?.addEventListener('abort', onLeave, { once: true });
      this.waiting.push(waiting);
      this.advance();
    });
  }

  close(): void {
    this.isClosed = true;
    for (const { failed } of this.waiting.splice(0)) failed(new WorkRefused('left'));
    for (const thread of [...this.threads.keys()]) thread.end(new WorkRefused('left'));
  }

  /** A task under way is never `busy`: its thread has its own deadline. */
  private giveUp(waiting: Waiting, reason: 'busy' | 'left'): void {
    if (waiting.thread !== undefined) {
      if (reason === 'left') waiting.thread.end(new WorkRefused('left'));
      return;
    }
    const index = this.waiting.indexOf(waiting);
    if (index === -1) return;
    this.waiting.splice(index, 1);
    waiting.failed(new WorkRefused(reason));
  }

  private advance(): void {
    while (this.waiting.length > 0) {
      const thread = this.freeThread();
      if (thread === undefined) return;
      const next = this.waiting.shift()!;
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
    const idle = setTimeout(() => thread.end(new WorkRefused('left')), this.options.idleMs);
    this.threads.set(thread, idle.unref());
    this.advance();
  }

  private onEnd(thread: WorkThread): void {
    clearTimeout(this.threads.get(thread));
    this.threads.delete(thread);
    if (!this.isClosed) this.advance();
  }
}
