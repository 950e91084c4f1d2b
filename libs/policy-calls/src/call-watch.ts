import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, Worker } from 'node:worker_threads';
import { CALL, LOOK_MS, MOST_LOOKS, newCell, numberAfter } from './call-cell';

/** The compiled file of the thread, which tests that run the sources do not have. */
const THREAD = join(__dirname, 'watch-thread.js');
/** The heap of a thread without a task; with 4 MiB it ends for lack of memory. */
const THREAD_MEMORY = { maxOldGenerationSizeMb: 12, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };
/** The end of a call reaches its thread within a few ms. */
const END_MS = 10_000;

/** Tells a thread which call is under way. The thread ends calls that do not return. */
export class CallWatch {
  private number = 0;

  private constructor(
    private readonly cell: Int32Array,
    private readonly thread: Worker,
  ) {}

  /** Undefined outside of the main thread, for only the code of that can be ended by another. */
  static start(limitMs: number): CallWatch | undefined {
    if (!isMainThread || !existsSync(THREAD)) return undefined;
    const cell = newCell();
    cell[MOST_LOOKS] = Math.ceil(limitMs / LOOK_MS);
    const options = { workerData: cell, execArgv: [], resourceLimits: THREAD_MEMORY };
    const thread = new Worker(THREAD, options);
    thread.unref();
    thread.once('error', (error) => {
      process.emitWarning(`The thread that watches policies has failed: ${error.message}`);
    });
    return new CallWatch(cell, thread);
  }

  during<T>(ask: () => T): T {
    const { cell } = this;
    this.number = numberAfter(this.number);
    Atomics.store(cell, CALL, this.number);
    try {
      return ask();
    } finally {
      // If the thread has begun to end this call, nothing else may run until it has.
      if (Atomics.compareExchange(cell, CALL, this.number, 0) !== this.number) awaitEnd();
    }
  }

  stop(): void {
    void this.thread.terminate();
  }
}

function awaitEnd(): void {
  const untilMs = performance.now() + END_MS;
  while (performance.now() < untilMs);
}
