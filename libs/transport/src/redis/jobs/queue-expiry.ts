import { type EngineJob, jobId } from '@baton/contract';
import type { ScriptCall } from '../scripts/script';
import { LIVE_RECORD_TTL_MS } from '../../limits';
import type { RedisLink } from '../connection/link';
import { withoutColons } from '../keys';
import type { BullQueue } from './bull-calls';
import type { BullWorker } from './held-jobs';
import { EXTEND_QUEUE, SET_TTL } from './queue-scripts';

/** Prefix of the names of engines' own queues, as BullMQ has them. */
const OWN = withoutColons('engine:');

/** Keys of shared queues have no time to live. */
export function isOwn({ name }: { readonly name: string }): boolean {
  return name.startsWith(OWN);
}

/** Gives a time to live to the keys that an added job has created. */
export function expireAdded(queue: BullQueue, job: EngineJob): ScriptCall {
  const { wait, prioritized, pc, marker, meta, id, events } = queue.keys;
  const created = [wait, prioritized, pc, marker, meta, id, events].map((key) => key ?? '');
  const keys = [...created, queue.toKey(withoutColons(jobId(job)))];
  return { script: SET_TTL, keys, args: [LIVE_RECORD_TTL_MS] };
}

/** Gives a time to live to the list of taken jobs, except in a shared queue. */
export function expireTaken(worker: BullWorker): ScriptCall {
  const { active = '' } = worker.keys;
  return { script: SET_TTL, keys: [active], args: [isOwn(worker) ? LIVE_RECORD_TTL_MS : 0] };
}

/**
 * Renews the time to live of the keys of an engine's own queue, so that keys in a shared Redis
 * expire an hour after their whole cluster has ended.
 */
export class QueueExpiry {
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
