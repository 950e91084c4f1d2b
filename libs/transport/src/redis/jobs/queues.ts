import { type EngineJob, jobId } from '@baton/contract';
import { type JobsOptions, PRIORITY_LIMIT, Queue, Worker } from 'bullmq';
import type { ConsumeOptions, JobConsumer, JobQueues, QueueName } from '../../port/queues';
import type { TransportTimes } from '../../times';
import { RedisConsumer } from './consumer';
import type { BullWorker } from './held-jobs';
import { type Keys, withoutColons } from '../keys';
import { QueueLife } from './queue-life';
import type { RedisLink } from '../connection/link';
import { ABANDON, RECLAIM } from './queue-scripts';
import type { ScriptReply } from '../connection/script';

type BullQueue = Queue<EngineJob, null, string>;

/** BullMQ's event streams feed its dashboards; nothing here reads them, so they stay short. */
const KEPT_EVENTS = 200;

/** What the names of engines' own queues begin with. */
const OWN = 'engine:';

/** How often a job may stall is bounded by the ledger, not by BullMQ. */
const ANY_NUMBER = 1_000_000_000;

/**
 * The queues, as BullMQ has them: each name is one of its queues, so its dashboards and tools can
 * look into them.
 */
export class RedisQueues implements JobQueues {
  private readonly queues = new Map<QueueName, BullQueue>();
  private readonly consumers = new Set<RedisConsumer>();

  constructor(
    private readonly link: RedisLink,
    private readonly keys: Keys,
    private readonly times: TransportTimes,
  ) {
    link.onRestore(async () => {
      for (const { keys: names } of this.queues.values()) await this.shortenEvents(names['meta']);
    });
  }

  async add(queue: QueueName, jobs: readonly EngineJob[]): Promise<void> {
    const bull = this.queue(queue);
    // Not `addBulk`: its pipeline copies all of BullMQ's commands each time. Commands of one turn
    // leave in one write anyway.
    await this.link.call('add jobs', () =>
      Promise.all(jobs.map((job) => bull.add('run', job, bullOptions(job)))),
    );
  }

  consume(queue: QueueName, options: ConsumeOptions): JobConsumer {
    const worker: BullWorker = new Worker(bullName(queue), null, {
      connection: this.link.commands,
      prefix: this.keys.queues,
      skipVersionCheck: true,
      lockDuration: this.times.lockMs,
      // Each consumer checks at this interval; the key that lets only one of them work must be gone
      // by then.
      stalledInterval: Math.max(1, this.times.stalledCheckMs - 20),
      maxStalledCount: ANY_NUMBER,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    // The awaiting caller handles a failure; BullMQ also emits it.
    worker.on('error', () => undefined);
    const consumer = new RedisConsumer(this.link, worker, options, this.times);
    const isOwn = queue.startsWith(OWN);
    const life = isOwn ? new QueueLife(this.link, worker, this.times.queueLifeMs) : undefined;
    worker.once('closed', () => {
      life?.close();
      this.consumers.delete(consumer);
    });
    this.consumers.add(consumer);
    return consumer;
  }

  async waiting(queue: QueueName): Promise<number> {
    const { keys } = this.queue(queue);
    const [plain, prioritized] = await this.link.call('count jobs', () =>
      Promise.all([
        this.link.commands.llen(keys['wait'] ?? ''),
        this.link.commands.zcard(keys['prioritized'] ?? ''),
      ]),
    );
    return plain + prioritized;
  }

  async abandon(queue: QueueName): Promise<EngineJob[]> {
    const bull = this.queue(queue);
    const { wait, active, prioritized, ...others } = bull.keys;
    const keys = [wait, active, prioritized, ...Object.values(others)].map((key) => key ?? '');
    const jobs = await this.link.call('abandon a queue', () =>
      this.link.scripts.run(ABANDON, keys, [bull.toKey('')]),
    );
    return parsed(jobs);
  }

  async reclaim(queue: QueueName): Promise<EngineJob[]> {
    const bull = this.queue(queue);
    const { wait, active, prioritized, stalled } = bull.keys;
    const keys = [wait, active, prioritized, stalled].map((key) => key ?? '');
    const jobs = await this.link.call('reclaim jobs', () =>
      this.link.scripts.run(RECLAIM, keys, [bull.toKey('')]),
    );
    return parsed(jobs);
  }

  async close(): Promise<void> {
    await Promise.all([...this.consumers].map((consumer) => consumer.close()));
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }

  /** BullMQ writes it once per queue object; a replaced server has lost it. */
  private async shortenEvents(meta = ''): Promise<void> {
    await this.link.commands.hset(meta, 'opts.maxLenEvents', KEPT_EVENTS);
  }

  private queue(name: QueueName): BullQueue {
    const known = this.queues.get(name);
    if (known !== undefined) return known;
    const queue: BullQueue = new Queue(bullName(name), {
      connection: this.link.commands,
      prefix: this.keys.queues,
      skipVersionCheck: true,
      streams: { events: { maxLen: KEPT_EVENTS } },
    });
    queue.on('error', () => undefined);
    this.queues.set(name, queue);
    return queue;
  }
}

function parsed(jobs: ScriptReply): EngineJob[] {
  return (jobs as readonly string[]).map((json) => JSON.parse(json) as EngineJob);
}

function bullName(queue: QueueName): string {
  return withoutColons(queue);
}

/**
 * vLLM runs lower priorities first, 0 being the default, in an int64. BullMQ takes its plain list
 * before the prioritized set (1 to 2,097,151, lower first), so positive priorities go there, those
 * beyond its end together. Negative ones go to the front of the plain list, where the latest is
 * first; the engine orders what it has taken exactly.
 */
function bullOptions(job: EngineJob): JobsOptions {
  const base = {
    jobId: withoutColons(jobId(job)),
    attempts: 1,
    removeOnComplete: true,
    removeOnFail: true,
  };
  if (job.priority > 0)
    return { ...base, priority: Math.min(Math.ceil(job.priority), PRIORITY_LIMIT) };
  return job.priority < 0 ? { ...base, lifo: true } : base;
}
