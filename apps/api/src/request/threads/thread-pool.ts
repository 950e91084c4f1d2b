import type { ProcessClock } from '@baton/clock';
import { Piscina } from 'piscina';

const MIB = 1024 * 1024;
/** A limit per request, so that one long request does not make all others wait. */
const THREADS = 2;
/** A load generator without a rate sends all its long prompts at once. */
const MOST_WAITING = 4_096;
const MOST_BYTES = 256 * MIB;
/**
 * Longest time of a task from its arrival, ms of the process's awake time: a busy machine refuses
 * nothing that an idle one does.
 */
const DEADLINE_MS = 30_000;
/** Code and vocabulary (30 MiB for o200k, more for some models), and 256 MiB for the request. */
const HEAP_MIB = 384;
/** Size of the young generation, for objects of one task; V8's default on 64 bits. */
const YOUNG_HEAP_MIB = 32;
/** A thread without a task ends after this time, and gives its memory back. */
const IDLE_MS = 60_000;

/** A task as a thread gets it. */
export interface PooledTask {
  readonly task: unknown;
  /** The thread sets its only element to 1 when it begins. */
  readonly begun: Int32Array;
}

/** The reasons why a task has no result. */
export type Refusal =
  /** Too many tasks or bytes wait, or the task has waited for too long. */
  | 'busy'
  /** The task took too long or too much memory. */
  | 'too-complex'
  /** Nothing awaits its result any more. */
  | 'left';

export class TaskRefused extends Error {
  constructor(readonly reason: Refusal) {
    super(`a thread has not done its task: ${reason}`);
    this.name = 'TaskRefused';
  }
}

export interface TaskOptions {
  /** Aborts when the result is no longer awaited; the task then ends. */
  readonly signal: AbortSignal;
  /** Size of the input, bytes. */
  readonly bytes: number;
}

/**
 * Threads for work that would hold the event loop. Each task has a deadline and a limit of memory,
 * and takes its thread with it when it exceeds them. The queue has limits on its length and bytes.
 */
export class ThreadPool {
  private readonly pool: Piscina;
  private bytes = 0;

  /**
   * @param filename a CommonJS module whose default export takes `PooledTask`
   * @param data the `workerData` of each thread
   */
  constructor(
    filename: string,
    data: unknown,
    private readonly clock: Pick<ProcessClock, 'whileAwaited'>,
    private readonly deadlineMs = DEADLINE_MS,
    heapMib = HEAP_MIB,
  ) {
    this.pool = new Piscina({
      filename,
      workerData: data,
      execArgv: [],
      minThreads: 0,
      maxThreads: THREADS,
      maxQueue: MOST_WAITING,
      idleTimeout: IDLE_MS,
      resourceLimits: {
        maxOldGenerationSizeMb: heapMib,
        maxYoungGenerationSizeMb: YOUNG_HEAP_MIB,
      },
      recordTiming: false,
    });
    // A task that fails rejects its own promise.
    this.pool.on('error', () => undefined);
  }

  /** The result of a task. @throws TaskRefused, or what the task threw */
  async run(task: unknown, { signal, bytes }: TaskOptions): Promise<unknown> {
    const isFull = this.bytes > 0 && this.bytes + bytes > MOST_BYTES;
    if (isFull || this.pool.queueSize >= MOST_WAITING) throw new TaskRefused('busy');
    const begun = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const end = new AbortController();
    const onLeave = (): void => end.abort('left');
    const settled = this.clock.whileAwaited(
      (nowMs, beganMs) => beganMs + this.deadlineMs - nowMs,
      () => end.abort(begun[0] === 1 ? 'too-complex' : 'busy'),
    );
    signal.addEventListener('abort', onLeave, { once: true });
    if (signal.aborted) onLeave();
    this.bytes += bytes;
    try {
      const pooled: PooledTask = { task, begun };
      return (await this.pool.run(pooled, { signal: end.signal })) as unknown;
    } catch (error) {
      if (end.signal.aborted) throw new TaskRefused(end.signal.reason as Refusal);
      throw isOutOfMemory(error) ? new TaskRefused('too-complex') : error;
    } finally {
      this.bytes -= bytes;
      settled();
      signal.removeEventListener('abort', onLeave);
    }
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
