import type { ProcessClock } from '@baton/clock';
import { type EngineJob, jobId } from '@baton/contract';
import type { TransportTimes } from '../times';

/**
 * A job in a queue. While a worker holds it, `token` identifies the lock and `lockEndMs` is its end
 * unless renewed.
 */
export interface QueuedJob {
  readonly id: string;
  readonly job: EngineJob;
  token: number | undefined;
  lockEndMs: number;
}

/** The parts of the hub that a queue uses. */
export interface QueueHost {
  readonly isReachable: boolean;
  readonly times: TransportTimes;
  readonly processClock: ProcessClock;
}

/** A consumer of jobs. `offer` returns whether it took the job. */
export interface Taker {
  readonly isIdle: boolean;
  offer(queued: QueuedJob): boolean;
}

/**
 * One queue: lower priorities first, then first in, first out; returned jobs go to the front. Jobs
 * are offered to the takers in turn, to idle ones first. A job whose lock has expired goes back to
 * the front.
 */
export class MemoryQueue {
  private readonly jobs = new Map<string, QueuedJob>();
  private waitingJobs: QueuedJob[] = [];
  private readonly takers: Taker[] = [];
  private isDelivering = false;
  private stalledCheck: NodeJS.Timeout | undefined;

  constructor(private readonly hub: QueueHost) {}

  get waiting(): number {
    return this.waitingJobs.length;
  }

  add(jobs: readonly EngineJob[]): void {
    for (const job of jobs) {
      const id = jobId(job);
      if (this.jobs.has(id)) continue;
      const queued: QueuedJob = { id, job, token: undefined, lockEndMs: 0 };
      this.jobs.set(id, queued);
      this.insert(queued);
    }
    this.deliver();
  }

  join(taker: Taker): void {
    this.takers.push(taker);
    this.deliver();
  }

  leave(taker: Taker): void {
    const at = this.takers.indexOf(taker);
    if (at >= 0) this.takers.splice(at, 1);
  }

  /**
   * Offers the waiting jobs in a later turn of the event loop, as an answer over a connection would
   * arrive.
   */
  deliver(): void {
    if (this.isDelivering) return;
    this.isDelivering = true;
    setImmediate(() => {
      this.isDelivering = false;
      while (this.hub.isReachable && this.offerNext());
      this.watch();
    });
  }

  isHeldBy(queued: QueuedJob, token: number): boolean {
    return this.jobs.get(queued.id) === queued && queued.token === token;
  }

  remove(queued: QueuedJob): void {
    this.jobs.delete(queued.id);
  }

  putBack(queued: QueuedJob): void {
    queued.token = undefined;
    this.waitingJobs.unshift(queued);
    this.deliver();
  }

  clear(): EngineJob[] {
    const all = [...this.jobs.values()].map((queued) => queued.job);
    this.jobs.clear();
    this.waitingJobs = [];
    return all;
  }

  /** Takes out the placed jobs that no worker holds. */
  reclaim(): EngineJob[] {
    const nowMs = this.hub.processClock.awakeMs();
    const free = [...this.jobs.values()].filter(
      ({ job, token, lockEndMs }) =>
        job.placed !== undefined && (token === undefined || nowMs >= lockEndMs),
    );
    for (const queued of free) this.jobs.delete(queued.id);
    this.waitingJobs = this.waitingJobs.filter((queued) => this.jobs.get(queued.id) === queued);
    return free.map((queued) => queued.job);
  }

  /** Puts the held jobs back. */
  release(): void {
    for (const queued of this.jobs.values()) if (queued.token !== undefined) this.putBack(queued);
  }

  private offerNext(): boolean {
    const next = this.waitingJobs.shift();
    if (next === undefined) return false;
    const idle = this.takers.filter((taker) => taker.isIdle);
    const busy = this.takers.filter((taker) => !taker.isIdle);
    const taker = [...idle, ...busy].find((one) => one.offer(next));
    if (taker === undefined) this.waitingJobs.unshift(next);
    else this.takers.push(...this.takers.splice(this.takers.indexOf(taker), 1));
    return taker !== undefined;
  }

  /**
   * Inserts behind all jobs of the same or a lower (earlier) priority. Most jobs have the same
   * priority, so the search from the end is short.
   */
  private insert(queued: QueuedJob): void {
    let at = this.waitingJobs.length;
    while (at > 0 && (this.waitingJobs[at - 1]?.job.priority ?? 0) > queued.job.priority) at -= 1;
    this.waitingJobs.splice(at, 0, queued);
  }

  /** Checks for stalled jobs as long as any are held. */
  private watch(): void {
    if (this.stalledCheck !== undefined || this.jobs.size === this.waitingJobs.length) return;
    this.stalledCheck = setTimeout(() => {
      this.stalledCheck = undefined;
      this.recoverStalled();
      this.watch();
    }, this.hub.times.stalledCheckMs);
    this.stalledCheck.unref();
  }

  private recoverStalled(): void {
    if (!this.hub.isReachable) return;
    const nowMs = this.hub.processClock.awakeMs();
    for (const queued of this.jobs.values()) {
      if (queued.token !== undefined && nowMs >= queued.lockEndMs) this.putBack(queued);
    }
  }
}
