import type { EngineJob } from '@baton/contract';
import type { ConsumeOptions, JobConsumer, TakenJob } from '../port/queues';
import type { InProcessHub } from './hub';
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

  offer(queued: QueuedJob): boolean {
    if (!this.isTaking || this.options.room() <= 0) return false;
    tokens += 1;
    queued.token = tokens;
    queued.lockEndMs = this.hub.punctuality.awakeMs() + this.hub.times.lockMs;
    const older = this.held.get(queued.id);
    if (older !== undefined) this.lose(older);
    const held = new HeldJob(queued, tokens, this);
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
    if (this.held.get(held.queued.id) !== held) return false;
    this.held.delete(held.queued.id);
    return this.hub.call('settle a job', () => {
      if (!this.isMine(held)) return false;
      end(held.queued);
      this.queue.deliver();
      return true;
    });
  }

  remove(queued: QueuedJob): void {
    this.queue.remove(queued);
  }

  putBack(queued: QueuedJob): void {
    this.queue.putBack(queued);
  }

  private isMine(held: HeldJob): boolean {
    return (
      this.queue.isHeldBy(held.queued, held.token) &&
      this.hub.punctuality.awakeMs() < held.queued.lockEndMs
    );
  }

  private renew(): void {
    for (const held of [...this.held.values()]) {
      if (!this.isMine(held)) this.lose(held);
      else if (this.hub.isReachable)
        held.queued.lockEndMs = this.hub.punctuality.awakeMs() + this.hub.times.lockMs;
    }
  }

  private lose(held: HeldJob): void {
    this.held.delete(held.queued.id);
    this.options.onLockLost(held);
  }
}

class HeldJob implements TakenJob {
  constructor(
    readonly queued: QueuedJob,
    readonly token: number,
    private readonly owner: MemoryConsumer,
  ) {}

  get job(): EngineJob {
    return this.queued.job;
  }

  done(): Promise<boolean> {
    return this.owner.settle(this, (queued) => this.owner.remove(queued));
  }

  async giveBack(): Promise<void> {
    await this.owner.settle(this, (queued) => this.owner.putBack(queued));
  }
}
