import type { EngineJob } from '@baton/contract';
import type { Job, Worker } from 'bullmq';
import type { RunPermit } from '../../port/ledger';
import type { JobFinish, HandOver, TakenJob } from '../../port/queues';
import type { TransportTimes } from '../../times';
import { isLockFailure } from '../connection/failures';
import type { RedisLink } from '../connection/link';
import type { JobSteps, Leaving } from './job-steps';
import { RENEW_LOCKS } from './queue-scripts';

export type BullWorker = Worker<EngineJob, null>;
export type BullJob = Job<EngineJob, null>;

/** The lock of a taken job. */
interface Take {
  readonly token: string;
  readonly permit: RunPermit | undefined;
  /** Awake time at which the take was sent. */
  readonly lockedMs: number;
}

interface HeldJobsOptions {
  readonly link: RedisLink;
  readonly worker: BullWorker;
  readonly times: TransportTimes;
  readonly steps: JobSteps;
  readonly onLockLost: (job: TakenJob) => void;
  readonly onRelease: () => void;
}

/**
 * The jobs that one consumer holds, and their locks. All locks are renewed in one call; their
 * length depends on this process's recent lateness. An expired lock is taken again unless another
 * worker has had the job since; the ledger fences runs that such a worker begins meanwhile. While
 * Redis cannot be reached, a lock is lost when it expires by this process's own awake time. Each
 * loss is reported once.
 */
export class HeldJobs {
  private readonly byId = new Map<string, HeldJob>();
  private timer: NodeJS.Timeout | undefined;
  private isRenewing = false;

  constructor(private readonly options: HeldJobsOptions) {}

  add(job: BullJob, { token, permit, lockedMs }: Take): TakenJob {
    const held = new HeldJob(job, { token, permit }, this);
    held.lockEndMs = lockedMs + this.leaseMs;
    const older = this.byId.get(held.id);
    if (older !== undefined) this.lose(older);
    this.byId.set(held.id, held);
    const { link, times } = this.options;
    this.timer ??= setTimeout(() => this.tick(), times.lockRenewMs);
    link.standby.keep({ key: this.lockKey(held), value: token, ttlMs: times.lockMs });
    return held;
  }

  /** The lock duration to request now. */
  get leaseMs(): number {
    return this.options.link.processClock.leaseMs(this.options.times.lockMs);
  }

  async complete(held: HeldJob): Promise<boolean> {
    return this.settle(held, 'complete a job', () =>
      held.bull.moveToCompleted(null, held.token, false),
    );
  }

  async giveBack(held: HeldJob): Promise<void> {
    await this.settle(held, 'give a job back', () => held.bull.moveToWait(held.token));
  }

  finishJob(held: HeldJob, finish: JobFinish): Promise<boolean> {
    return this.leave(held, 'finish a job', (leaving) =>
      this.options.steps.finishJob(held.job, finish, leaving),
    );
  }

  handOver(held: HeldJob, how: HandOver): Promise<boolean> {
    const { steps, link } = this.options;
    if (!how.leaves) return link.call('hand over', () => steps.handOver(held.job, how, undefined));
    return this.leave(held, 'hand over a job', (leaving) => steps.handOver(held.job, how, leaving));
  }

  close(): void {
    clearTimeout(this.timer);
    for (const held of this.byId.values()) this.forget(held);
  }

  /** False when the lock is lost. In either case the job is no longer held here. */
  private async settle(
    held: HeldJob,
    what: string,
    send: () => Promise<unknown>,
  ): Promise<boolean> {
    if (this.byId.get(held.id) !== held) return false;
    this.forget(held);
    try {
      await this.options.link.call(what, send);
      this.options.onRelease();
      return true;
    } catch (error) {
      if (isLockFailure(error)) return false;
      throw error;
    }
  }

  /** The job leaves with a step of the ledger, if it is held. After a failure it will stall. */
  private async leave(
    held: HeldJob,
    what: string,
    send: (leaving: Leaving) => Promise<boolean>,
  ): Promise<boolean> {
    const { link } = this.options;
    if (this.byId.get(held.id) !== held) return link.call(what, () => send(undefined));
    this.forget(held);
    const isOurs = await link.call(what, () => send(held));
    this.options.onRelease();
    return isOurs;
  }

  /** Without jobs there is no timer, so that an idle process stays idle. */
  private tick(): void {
    const { link, times } = this.options;
    const all = [...this.byId.values()];
    const nowMs = link.processClock.awakeMs();
    if (link.isUp && !this.isRenewing && all.length > 0) void this.renew(all);
    if (!link.isUp) for (const held of all) if (nowMs >= held.lockEndMs) this.lose(held);
    const isNeeded = this.byId.size > 0;
    this.timer = isNeeded ? setTimeout(() => this.tick(), times.lockRenewMs) : undefined;
  }

  private async renew(batch: readonly HeldJob[]): Promise<void> {
    const { link, worker } = this.options;
    const [sentMs, leaseMs] = [link.processClock.awakeMs(), this.leaseMs];
    this.isRenewing = true;
    try {
      const { wait = '', active = '', prioritized = '', stalled = '' } = worker.keys;
      const locks = batch.flatMap(({ id, token, bull }) => [id, token, bull.attemptsStarted]);
      const keys = [wait, active, prioritized, stalled];
      const args = [worker.toKey(''), leaseMs, ...locks];
      const lost = await link.call('renew locks', () => link.scripts.run(RENEW_LOCKS, keys, args));
      const lostIds = new Set(lost as readonly string[]);
      for (const held of batch) {
        if (lostIds.has(held.id)) this.lose(held);
        else held.lockEndMs = sentMs + leaseMs;
      }
    } catch {
      // The next tick retries, or ends expired locks when the broker is unavailable.
    } finally {
      this.isRenewing = false;
    }
  }

  private lockKey(held: HeldJob): string {
    return `${this.options.worker.toKey(held.id)}:lock`;
  }

  private forget(held: HeldJob): void {
    this.byId.delete(held.id);
    this.options.link.standby.drop(this.lockKey(held));
  }

  private lose(held: HeldJob): void {
    if (this.byId.get(held.id) !== held) return;
    this.forget(held);
    this.options.onLockLost(held);
  }
}

class HeldJob implements TakenJob {
  readonly id: string;
  readonly token: string;
  readonly permit: RunPermit | undefined;
  /** Awake time. */
  lockEndMs = 0;

  constructor(
    readonly bull: BullJob,
    { token, permit }: Omit<Take, 'lockedMs'>,
    private readonly owner: HeldJobs,
  ) {
    this.id = bull.id ?? '';
    this.token = token;
    this.permit = permit;
  }

  get job(): EngineJob {
    return this.bull.data;
  }

  done(): Promise<boolean> {
    return this.owner.complete(this);
  }

  finishJob(finish: JobFinish): Promise<boolean> {
    return this.owner.finishJob(this, finish);
  }

  handOver(how: HandOver): Promise<boolean> {
    return this.owner.handOver(this, how);
  }

  giveBack(): Promise<void> {
    return this.owner.giveBack(this);
  }
}
