import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, Worker } from 'node:worker_threads';
import { CALL, type CallLimits, isReady, newCell, numberAfter, takePlace } from './call-cell';

/** The compiled file of the thread, which tests that run the sources do not have. */
const THREAD = join(__dirname, 'watch-thread.js');
/** The heap of a thread without a task; with 4 MiB it ends for lack of memory. */
const THREAD_MEMORY = { maxOldGenerationSizeMb: 12, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };
/** The end of a call reaches its thread within a few ms, on a busy machine within seconds. */
const END_MS = 60_000;

/** Reports the current call to a thread. The thread ends calls that do not return. */
export class CallWatch {
  private number = 0;

  private constructor(
    private readonly cell: Int32Array,
    private readonly thread: Worker,
  ) {}

  /** Undefined outside of the main thread, for only the code of that can be ended by another. */
  static start(limits: CallLimits): CallWatch | undefined {
    if (!isMainThread || !existsSync(THREAD)) return undefined;
    const cell = newCell(limits);
    const options = { workerData: cell, execArgv: [], resourceLimits: THREAD_MEMORY };
    const thread = new Worker(THREAD, options);
    thread.unref();
    thread.once('error', (error) => {
      process.emitWarning(`The thread that watches policies has failed: ${error.message}`);
    });
    return new CallWatch(cell, thread);
  }

  /** Whether the thread looks. */
  get isReady(): boolean {
    return isReady(this.cell);
  }

  during<T>(ask: () => T): T {
    const { cell } = this;
    this.number = numberAfter(this.number);
    Atomics.store(cell, CALL, this.number);
    try {
      return ask();
    } finally {
      this.closeCall();
    }
  }

  /**
   * Returns when the thread does not end this call any more. While it does, it ends all code that
   * runs, so the caller must be inside a boundary.
   */
  closeCall(): void {
    const { cell, number } = this;
    if (Atomics.compareExchange(cell, CALL, number, 0) !== -number) return;
    const untilMs = performance.now() + END_MS;
    while (Atomics.load(cell, CALL) === -number && performance.now() < untilMs);
  }

  /** File and line at which the last ended call was. Undefined: unknown. */
  takePlace(): string | undefined {
    return takePlace(this.cell);
  }

  stop(): void {
    void this.thread.terminate();
  }
}
