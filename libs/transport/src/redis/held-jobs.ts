import type { EngineJob } from '@baton/contract';
import type { Job, Worker } from 'bullmq';
import type { TakenJob, TransportTimes } from '../port';
import { isLockFailure } from './failures';
import type { Link } from './link';

export type BullWorker = Worker<EngineJob, null>;
export type BullJob = Job<EngineJob, null>;

interface HeldJobsOptions {
  readonly link: Link;
  readonly worker: BullWorker;
  readonly times: TransportTimes;
  readonly onLockLost: (job: TakenJob) => void;
  readonly onRelease: () => void;
}

/**
 * The jobs that one consumer holds, and their locks. All locks are renewed in one call. A lock is
 * ours until `lockMs` after the last answered renewal left this process, by its own monotonic
 * clock: when that instant passes, the job is lost, whatever Redis says later. Each loss is told
 * once.
 */
export class HeldJobs {
  private readonly byId = new Map<string, HeldJob>();
  private timer: NodeJS.Timeout | undefined;
  private isRenewing = false;

  constructor(private readonly options: HeldJobsOptions) {
    this.schedule();
  }

  /** @param lockedMs when the take was sent, by `performance.now()`. */
  add(job: BullJob, token: string, lockedMs: number): TakenJob {
    const held = new HeldJob(job, token, this);
    held.lockEndMs = lockedMs + this.options.times.lockMs;
    const older = this.byId.get(held.id);
    if (older !== undefined) this.lose(older);
    this.byId.set(held.id, held);
    return held;
  }

  async complete(held: HeldJob): Promise<boolean> {
    return this.settle(held, 'complete a job', () =>
      held.bull.moveToCompleted(null, held.token, false),
    );
  }

  async giveBack(held: HeldJob): Promise<void> {
    await this.settle(held, 'give a job back', () => held.bull.moveToWait(held.token));
  }

  close(): void {
    clearTimeout(this.timer);
    this.byId.clear();
  }

  /**
   * False when the lock was lost before, or turns out to be. Whatever the answer, the job is no
   * longer held here.
   */
  private async settle(
    held: HeldJob,
    what: string,
    send: () => Promise<unknown>,
  ): Promise<boolean> {
    if (this.byId.get(held.id) !== held) return false;
    this.byId.delete(held.id);
    try {
      await this.options.link.call(what, send);
      this.options.onRelease();
      return true;
    } catch (error) {
      if (isLockFailure(error)) return false;
      throw error;
    }
  }

  private schedule(): void {
    let nextMs = performance.now() + this.options.times.lockRenewMs;
    for (const held of this.byId.values()) nextMs = Math.min(nextMs, held.lockEndMs);
    this.timer = setTimeout(() => this.tick(), Math.max(1, nextMs - performance.now()));
  }

  private tick(): void {
    const nowMs = performance.now();
    for (const held of [...this.byId.values()]) if (nowMs >= held.lockEndMs) this.lose(held);
    if (!this.isRenewing && this.byId.size > 0) void this.renew([...this.byId.values()], nowMs);
    this.schedule();
  }

  private async renew(batch: readonly HeldJob[], sentMs: number): Promise<void> {
    const { link, worker, times } = this.options;
    this.isRenewing = true;
    try {
      const ids = batch.map((held) => held.id);
      const tokens = batch.map((held) => held.token);
      const extend = (): Promise<string[]> => worker.extendJobLocks(ids, tokens, times.lockMs);
      const failed = new Set(await link.call('renew locks', extend));
      for (const held of batch) {
        if (failed.has(held.id)) this.lose(held);
        else held.lockEndMs = sentMs + times.lockMs;
      }
    } catch {
      // Not renewed; the local clock decides when that means lost.
    } finally {
      this.isRenewing = false;
    }
  }

  private lose(held: HeldJob): void {
    if (this.byId.get(held.id) !== held) return;
    this.byId.delete(held.id);
    this.options.onLockLost(held);
  }
}

class HeldJob implements TakenJob {
  readonly id: string;
  lockEndMs = 0;

  constructor(
    readonly bull: BullJob,
    readonly token: string,
    private readonly owner: HeldJobs,
  ) {
    this.id = bull.id ?? '';
  }

  get job(): EngineJob {
    return this.bull.data;
  }

  done(): Promise<boolean> {
    return this.owner.complete(this);
  }

  giveBack(): Promise<void> {
    return this.owner.giveBack(this);
  }
}
