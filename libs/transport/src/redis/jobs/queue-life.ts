import { LIVE_RECORD_TTL_MS } from '../../limits';
import type { RedisLink } from '../connection/link';
import type { BullWorker } from './held-jobs';
import { EXTEND_QUEUE } from './queue-scripts';

/**
 * Gives the keys of an engine's own queue a time to live, which the engine renews, so that keys in
 * a shared Redis expire an hour after their whole cluster has died.
 */
export class QueueLife {
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly link: RedisLink,
    private readonly worker: BullWorker,
    everyMs: number,
  ) {
    this.timer = setInterval(() => void this.extend(), everyMs);
    this.timer.unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async extend(): Promise<void> {
    if (!this.link.isUp) return;
    const { wait, active, prioritized, ...others } = this.worker.keys;
    const keys = [wait, active, prioritized, ...Object.values(others)].map((key) => key ?? '');
    const args = [this.worker.toKey(''), LIVE_RECORD_TTL_MS];
    // A failure is ignored: the time to live spans many intervals.
    await this.link
      .call('keep a queue', () => this.link.scripts.run(EXTEND_QUEUE, keys, args))
      .catch(() => undefined);
  }
}
