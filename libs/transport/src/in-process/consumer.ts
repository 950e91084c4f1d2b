import { speedUpTimers } from '@baton/clock';
import type { EngineJob } from '@baton/contract';
import type {
  ConsumeOptions,
  JobFinish,
  HandOver,
  JobConsumer,
  RunClaim,
  TakenJob,
} from '../port/queues';
import type { RunPermit, RunStart } from '../port/ledger';
import type { InProcessHub } from './hub';
import { beginRun, changeRecord } from './ledger';
import type { MemoryQueue, QueuedJob, Taker } from './memory-queue';

let tokens = 0;

/**
 * Takes jobs of one queue while there is room, renews their locks, and notices when one is lost.
 */
export class MemoryConsumer implements JobConsumer, Taker {
  private readonly held = new Map<string, HeldJob>();
  private readonly renewal: NodeJS.Timeout;
  private isTaking = true;

  constructor(
    private readonly hub: InProcessHub,
    private readonly queue: MemoryQueue,
    private readonly options: ConsumeOptions,
  ) {
    this.renewal = setInterval(() => this.renew(), hub.times.lockRenewMs);
    queue.join(this);
  }

  get isIdle(): boolean {
    return this.options.isIdle?.() === true;
  }

  offer(queued: QueuedJob): boolean {
    if (!this.isTaking || this.options.room() <= 0) return false;
    tokens += 1;
    // The lock counts awake time, and a slow clock would count a pause.
    speedUpTimers();
    queued.token = tokens;
    queued.lockEndMs = this.hub.processClock.awakeMs() + this.hub.times.lockMs;
    const older = this.held.get(queued.id);
    if (older !== undefined) this.lose(older);
    const { begins } = this.options;
    const permit = begins && beginRun(this.hub, { ...runOf(queued.job), ...begins });
    const held = new HeldJob(queued, { token: tokens, permit }, this);
    this.held.set(queued.id, held);
    this.options.onJob(held);
    return true;
  }

  wake(): void {
    this.queue.deliver();
  }

  pause(): void {
    this.isTaking = false;
    this.queue.leave(this);
  }

  async close(): Promise<void> {
    this.pause();
    clearInterval(this.renewal);
    this.held.clear();
    await Promise.resolve();
  }

  async settle(held: HeldJob, end: (queued: QueuedJob) => void): Promise<boolean> {
    if (!this.release(held)) return false;
    return this.hub.call('settle a job', () => {
      if (!this.isMine(held)) return false;
      end(held.queued);
      this.queue.deliver();
      return true;
    });
  }

  finishJob(held: HeldJob, { epoch, result }: JobFinish): Promise<boolean> {
    const { requestId } = held.job;
    const isHeld = this.release(held);
    return this.hub.call('finish a job', () => {
      if (isHeld) this.drop(held);
      return changeRecord(this.hub, requestId, (record) => record.finishRequest(epoch, result));
    });
  }

  handOver(held: HeldJob, { epoch, handoff, next, leaves }: HandOver): Promise<boolean> {
    const { requestId } = held.job;
    const isLeaving = leaves && this.release(held);
    return this.hub.call('hand over a job', () => {
      if (isLeaving) this.drop(held);
      const isOurs = changeRecord(this.hub, requestId, (of) => of.handOff(epoch, handoff));
      if (isOurs) this.hub.queue(next.queue).add([next.job]);
      return isOurs;
    });
  }

  remove(queued: QueuedJob): void {
    this.queue.remove(queued);
  }

  putBack(queued: QueuedJob): void {
    this.queue.putBack(queued);
  }

  /** False when it was no longer held. */
  private release(held: HeldJob): boolean {
    return this.held.get(held.queued.id) === held && this.held.delete(held.queued.id);
  }

  private drop(held: HeldJob): void {
    if (this.isMine(held)) this.remove(held.queued);
    this.queue.deliver();
  }

  private isMine(held: HeldJob): boolean {
    return (
      this.queue.isHeldBy(held.queued, held.token) &&
      this.hub.processClock.awakeMs() < held.queued.lockEndMs
    );
  }

  private renew(): void {
    for (const held of [...this.held.values()]) {
      if (!this.isMine(held)) this.lose(held);
      else if (this.hub.isReachable)
        held.queued.lockEndMs = this.hub.processClock.awakeMs() + this.hub.times.lockMs;
    }
  }

  private lose(held: HeldJob): void {
    this.held.delete(held.queued.id);
    this.options.onLockLost(held);
  }
}

function runOf({ requestId, submission, apiId }: EngineJob): Omit<RunStart, keyof RunClaim> {
  return { requestId, submission, apiId };
}

class HeldJob implements TakenJob {
  readonly token: number;
  readonly permit: RunPermit | undefined;

  constructor(
    readonly queued: QueuedJob,
    { token, permit }: { readonly token: number; readonly permit: RunPermit | undefined },
    private readonly owner: MemoryConsumer,
  ) {
    this.token = token;
    this.permit = permit;
  }

  get job(): EngineJob {
    return this.queued.job;
  }

  done(): Promise<boolean> {
    return this.owner.settle(this, (queued) => this.owner.remove(queued));
  }

  finishJob(finish: JobFinish): Promise<boolean> {
    return this.owner.finishJob(this, finish);
  }

  handOver(how: HandOver): Promise<boolean> {
    return this.owner.handOver(this, how);
  }

  async giveBack(): Promise<void> {
    await this.owner.settle(this, (queued) => this.owner.putBack(queued));
  }
}
