import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { PeriodicTimer, speedUpTimers, SLOW_PERIOD_MS } from '@baton/clock';
import { Signal } from '@baton/kernel';
import type { JobTaker } from '../scripts/taking-order';
import type { Redis } from 'ioredis';
import type { ConsumeOptions, JobConsumer, ProcessId } from '../../port/queues';
import type { TransportTimes } from '../../times';
import { BLOCK_SECONDS } from '../connection/client';
import { type BullWorker, HeldJobs } from './held-jobs';
import type { RedisLink } from '../connection/link';
import type { JobSteps } from './job-steps';
import { LOOK } from './queue-scripts';
import type { BatchJob, JobTaking } from './job-taking';

/** Margin for timers that fire early and for pauses, which count up to 0.3 s. */
const CHECK_SLACK = 0.9;

/** Pause after a refused take, for example by a server that is out of memory. */
const REST_MS = 100;

/** Jobs per round trip at most; more would leave too few to the other consumers of a queue. */
const MOST_AT_ONCE = 4;

/** The beginning of the lock tokens of a process. */
export function holderOf({ host, pid }: ProcessId): string {
  return `${host}:${pid}:`;
}

/** Moments of a woken consumer after which one that has not taken since looks for jobs. */
const MOMENTS = 4;

export interface ConsumerParts {
  readonly link: RedisLink;
  readonly worker: BullWorker;
  readonly times: TransportTimes;
  readonly steps: JobSteps;
  readonly taking: JobTaking;
}

/**
 * Takes jobs itself while there is room. BullMQ's own loop does not notice a raised concurrency
 * while its slots are full, and an engine's room changes with every step (docs/decisions/0002).
 */
export class RedisConsumer implements JobConsumer {
  private readonly link: RedisLink;
  private readonly worker: BullWorker;
  private readonly times: TransportTimes;
  private readonly taking: JobTaking;
  private state: 'taking' | 'paused' | 'closed' = 'taking';
  private readonly held: HeldJobs;
  private readonly changed = new Signal();
  private readonly stalledCheck: PeriodicTimer;
  private readonly stopListening: () => void;
  private readonly id = `${holderOf({ host: hostname(), pid: process.pid })}${randomUUID()}`;
  private takes = 0;
  /** Its turn in the order of takers. */
  private turn = 0;
  /** Its position in that order; undefined when it is not in it. */
  private entered: 'idle' | 'busy' | undefined;
  /** The connection of a blocking wait, during the wait. */
  private blocked: Redis | undefined;
  /** Estimated waiting jobs: the number that the last take left, or one after a wait. */
  private left = 1;
  /** Runs while jobs are left to another consumer. */
  private reminder: NodeJS.Timeout | undefined;
  /** Awake time of the next check for stalled jobs. */
  private checkDueMs = 0;
  /** Jobs that consumers of the queue hold, as last seen. */
  private taken = 0;

  constructor(
    { link, worker, times, steps, taking }: ConsumerParts,
    private readonly options: ConsumeOptions,
  ) {
    this.link = link;
    this.worker = worker;
    this.times = times;
    this.taking = taking;
    this.held = new HeldJobs({
      link,
      worker,
      times,
      steps,
      onLockLost: (job) => options.onLockLost(job),
      onRelease: () => this.changed.fire(),
    });
    // The blocked connection can be cut too, and would detect it only much later.
    this.stopListening = link.onEvent((event) => {
      if (event === 'lost') return;
      this.blocked?.disconnect(true);
      this.changed.fire();
    });
    const mayBeSlow = (): boolean => this.taken === 0 && times.lockMs > SLOW_PERIOD_MS;
    const check = (): void => void this.recoverStalled();
    this.stalledCheck = new PeriodicTimer(times.stalledCheckMs, check, mayBeSlow);
    void this.takeJobs();
  }

  wake(): void {
    this.changed.fire();
    if (this.blocked !== undefined) this.enter();
  }

  pause(): void {
    if (this.state === 'taking') this.state = 'paused';
    this.withdraw();
    this.changed.fire();
  }

  async close(): Promise<void> {
    this.state = 'closed';
    this.stopListening();
    this.withdraw();
    clearTimeout(this.reminder);
    this.changed.fire();
    this.stalledCheck.stop();
    this.held.close();
    await this.worker.close(true);
  }

  private async takeJobs(): Promise<void> {
    while (this.state === 'taking') {
      const room = this.options.room();
      if (room <= 0) {
        this.withdraw();
        await this.changed.wait();
      } else if (!this.link.isUp) await this.changed.wait();
      else await this.takeOrWait(room);
    }
  }

  private async takeOrWait(room: number): Promise<void> {
    try {
      if (this.left > 0) await this.take(room);
      else {
        await this.waitForJob();
        this.left = 1;
      }
    } catch {
      // The failed wait can have taken a marker.
      this.left = 1;
      await this.rest(REST_MS);
    }
  }

  /** Takes several jobs in one round trip and one atomic step. */
  private async take(room: number): Promise<void> {
    this.takes += 1;
    const token = `${this.id}:${this.takes}`;
    const lockedMs = this.link.processClock.awakeMs();
    this.worker.opts.lockDuration = this.held.leaseMs;
    const taker = this.takerWith(room);
    const { jobs, left, isDeferred, turn } = await this.taking.take(
      token,
      Math.min(room, MOST_AT_ONCE),
      taker,
    );
    if (jobs.length > 0) speedUpTimers();
    this.turn = turn;
    if (jobs.length >= room || !this.taking.hasOrder) this.entered = undefined;
    else this.entered = taker.isIdle && jobs.length === 0 ? 'idle' : 'busy';
    this.left = isDeferred ? 0 : left;
    clearTimeout(this.reminder);
    if (isDeferred) this.reminder = setTimeout(this.remind, MOMENTS * this.times.deferenceMs);
    for (const job of jobs) this.receive(job, token, lockedMs);
    if (this.state !== 'taking') this.withdraw();
  }

  private takerWith(room: number): JobTaker {
    return { id: this.id, isIdle: this.options.isIdle?.() === true, turn: this.turn, room };
  }

  /** Gives it a place in the order, or the right one when it has become idle or busy since. */
  private enter(): void {
    const taker = this.takerWith(1);
    const kind = taker.isIdle ? 'idle' : 'busy';
    if (!this.taking.hasOrder || this.entered === kind || !this.link.isUp) return;
    this.entered = kind;
    this.taking.enter(taker).catch(() => undefined);
  }

  private withdraw(): void {
    if (this.entered === undefined || !this.link.isUp) return;
    this.entered = undefined;
    this.taking.withdraw(this.takerWith(0)).catch(() => undefined);
  }

  private receive({ bull, permit }: BatchJob, token: string, lockedMs: number): void {
    if (this.state === 'taking') {
      this.options.onJob(this.held.add(bull, { token, permit, lockedMs }));
      return;
    }
    // The job arrived after the close; without this it would stall.
    if (!this.link.isUp) return;
    this.taking.uncountRun(bull.data, permit).catch(() => undefined);
    bull.moveToWait(token).catch(() => undefined);
  }

  /**
   * Blocks until BullMQ's marker or another consumer signals a job. A marker that this worker
   * cannot use goes to the next one.
   */
  private async waitForJob(): Promise<void> {
    const blocking = (await this.worker.waitUntilReady()) as unknown as Redis;
    this.blocked = blocking;
    this.enter();
    const popped = await blocking
      .bzpopmin(this.worker.toKey('marker'), this.taking.wakeKey(this.id), BLOCK_SECONDS)
      .finally(() => (this.blocked = undefined));
    if (popped === null || (this.state === 'taking' && this.options.room() > 0)) return;
    this.withdraw();
    if (this.link.isUp) await this.mark();
  }

  /** Wakes a worker for jobs that were left to another consumer, which may have ended. */
  private readonly remind = (): void => {
    const marked = this.look().then(([, waiting]) => (waiting > 0 ? this.mark() : undefined));
    marked.catch(() => undefined);
  };

  /** Wakes one worker that waits for a job. */
  private async mark(): Promise<void> {
    const marker = this.worker.toKey('marker');
    await this.link.call('mark a queue', () => this.link.commands.zadd(marker, 0, '0'));
  }

  private async rest(ms: number): Promise<void> {
    if (this.state === 'taking') await Promise.race([pause(ms), this.changed.wait()]);
  }

  /**
   * Measured in awake time: a process that was paused together with the holder of a lock leaves the
   * holder time to renew it. A queue without taken jobs is checked twice per lock duration, and the
   * first check that finds some only speeds up the timers: the slow clock of an idle process does
   * not show every pause. A marker that died with the worker that had popped it is set again.
   */
  private async recoverStalled(): Promise<void> {
    const { stalledCheckMs, lockMs } = this.times;
    const awakeMs = this.link.processClock.awakeMs();
    if (!this.link.isUp || awakeMs < this.checkDueMs) return;
    this.checkDueMs = awakeMs + stalledCheckMs * CHECK_SLACK;
    try {
      const before = this.taken;
      const [taken, waiting] = await this.look();
      this.taken = taken;
      if (waiting > 0 && this.blocked !== undefined) await this.mark();
      if (taken === 0)
        this.checkDueMs = awakeMs + Math.max(stalledCheckMs, lockMs / 2) * CHECK_SLACK;
      else if (before === 0) speedUpTimers();
      else
        await this.link.call('recover stalled jobs', () =>
          this.worker.scripts.moveStalledJobsToWait(),
        );
    } catch {
      // The check failed; the next one retries.
    }
  }

  private async look(): Promise<readonly [number, number]> {
    const { active = '', wait = '', prioritized = '' } = this.worker.keys;
    const keys = [active, wait, prioritized];
    const look = (): Promise<unknown> => this.link.scripts.run(LOOK, keys, []);
    return (await this.link.call('look into a queue', look)) as [number, number];
  }
}
