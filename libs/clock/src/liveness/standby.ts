import { existsSync } from 'node:fs';
import { type MessagePort, parentPort, Worker } from 'node:worker_threads';
import { PeriodicTimer, type TimerWheel } from '../timer-wheel';

/** A key that expires unless this process renews it: the lock of a held job, or a presence. */
export interface Lease {
  readonly key: string;
  /** Value of the key while this process holds it. Empty: any value counts as held. */
  readonly value: string;
  readonly ttlMs: number;
}

export interface StandbyTimes {
  readonly lockMs: number;
  readonly lockRenewMs: number;
  /** Age of a sign of life after which an event loop counts as hanging for good. */
  readonly lockCeilingMs: number;
}

/** A sign of life of the event loop, with the leases that have changed since the last one. */
export interface Beat {
  readonly kept: readonly Lease[];
  /** Keys of leases that ended before those began. */
  readonly ended: readonly string[];
  /** Time until the next one, while the event loop is on time. */
  readonly nextMs: number;
}

type ThreadArgs = ConstructorParameters<typeof Worker>;
type StandbyThread = Pick<Worker, 'postMessage' | 'once' | 'unref' | 'terminate'>;

const BEAT_EVERY_MS = 200;

/**
 * Shortest time between two beats: a message costs some 25 µs, and one per short job would be a
 * tenth of a worker's CPU time.
 */
const BEATS_APART_MS = 25;

/** The thread starts this long after its process, whose start it would slow down, or a failure. */
const START_AFTER_MS = 1_000;

/** ioredis and some 10,000 leases fit; a larger heap would only collect its garbage later. */
const HEAP_MB = { maxOldGenerationSizeMb: 12, maxYoungGenerationSizeMb: 1 };

/**
 * A thread that extends the leases of this process while its event loop is too busy to renew them,
 * up to the maximum of a lease. It starts with the first lease and knows each one at once, or
 * within 25 ms where many begin: what begins with a job often holds the event loop soon. Their ends
 * wait for the next beat, as a lease that has ended has no key to extend.
 */
export class Standby {
  private readonly leases = new Map<string, Lease>();
  private readonly beats: PeriodicTimer;
  /** Leases that have begun and ended since the last beat. */
  private readonly begun = new Map<string, Lease>();
  private ended: string[] = [];
  private beatMs = 0;
  private dueBeat: NodeJS.Timeout | undefined;
  private thread: StandbyThread | undefined;
  private startMs = performance.now() + START_AFTER_MS;

  /**
   * @param file  the compiled file of the thread, which calls `standBy`; where it is absent, as in
   * tests that run the sources, there is no thread
   * @param workerData  the data that the thread gets at its start
   * @param wheel  for tests; unset: that of the process
   * @param Thread  for tests
   */
  constructor(
    private readonly file: string,
    private readonly workerData: unknown,
    wheel?: TimerWheel,
    private readonly Thread: new (...args: ThreadArgs) => StandbyThread = Worker,
  ) {
    const isCompiled = existsSync(file);
    const beat = (): void => {
      if (isCompiled && this.thread === undefined) this.startThread();
      else this.beat();
    };
    this.beats = new PeriodicTimer(BEAT_EVERY_MS, beat, () => true, wheel);
  }

  /** A key has one lease: while it lasts, another with the same key changes nothing. */
  keep(lease: Lease): void {
    if (this.leases.has(lease.key)) return;
    this.leases.set(lease.key, lease);
    this.begun.set(lease.key, lease);
    const sinceMs = performance.now() - this.beatMs;
    this.dueBeat ??= setTimeout(() => this.beat(), Math.max(0, BEATS_APART_MS - sinceMs));
  }

  drop(key: string): void {
    if (!this.leases.delete(key)) return;
    if (!this.begun.delete(key)) this.ended.push(key);
  }

  close(): void {
    clearTimeout(this.dueBeat);
    this.beats.stop();
    void this.thread?.terminate();
  }

  private beat(): void {
    const { thread, begun, ended, beats } = this;
    clearTimeout(this.dueBeat);
    this.dueBeat = undefined;
    this.beatMs = performance.now();
    const beat: Beat = { kept: [...begun.values()], ended, nextMs: beats.intervalMs };
    thread?.postMessage(beat);
    begun.clear();
    this.ended = [];
  }

  private startThread(): void {
    const nowMs = performance.now();
    if (this.leases.size === 0 || nowMs < this.startMs) return;
    this.startMs = nowMs + START_AFTER_MS;
    const { workerData } = this;
    const thread = new this.Thread(this.file, {
      workerData,
      execArgv: [],
      resourceLimits: HEAP_MB,
    });
    this.thread = thread;
    thread.unref();
    // A later beat starts another thread.
    thread.once('error', (error) => {
      process.emitWarning(`The standby thread has failed: ${error.message}`);
      this.thread = undefined;
    });
    for (const lease of this.leases.values()) this.begun.set(lease.key, lease);
    this.beat();
  }
}

/**
 * The thread's side: calls `extend` while the next beat is late, as often as the event loop would
 * renew its leases. One that never continues must lose them.
 */
export function standBy(
  { lockMs, lockRenewMs, lockCeilingMs }: StandbyTimes,
  extend: (leases: readonly Lease[]) => Promise<unknown>,
  port: Pick<MessagePort, 'on'> | null = parentPort,
): void {
  const leases = new Map<string, Lease>();
  let beatMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const extendAgain = (): void => {
    if (performance.now() - beatMs > lockCeilingMs) return;
    timer = setTimeout(extendAgain, lockRenewMs);
    // After a failure the next call tries again.
    extend([...leases.values()]).catch(() => undefined);
  };
  port?.on('message', ({ kept, ended, nextMs }: Beat) => {
    for (const key of ended) leases.delete(key);
    for (const lease of kept) leases.set(lease.key, lease);
    beatMs = performance.now();
    clearTimeout(timer);
    // A lease that was renewed just before the beat is extended in time.
    timer = setTimeout(extendAgain, Math.min(nextMs + lockRenewMs, lockMs - lockRenewMs));
  });
}
