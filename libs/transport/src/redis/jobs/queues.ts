import type { EngineJob } from '@baton/contract';
import { assert } from '@baton/kernel';
import type { Script, ScriptReply } from '../scripts/script';
import { Queue, Worker } from 'bullmq';
import type {
  ConsumeOptions,
  JobConsumer,
  JobQueues,
  ProcessId,
  QueueName,
} from '../../port/queues';
import type { TransportTimes } from '../../times';
import { BullCalls, type BullQueue } from './bull-calls';
import { holderOf, RedisConsumer } from './consumer';
import type { BullWorker } from './held-jobs';
import { type Keys, withoutColons } from '../keys';
import { JobSteps } from './job-steps';
import { isOwn, expireAdded, QueueExpiry } from './queue-expiry';
import type { RedisLink } from '../connection/link';
import { LedgerCalls } from '../ledger-calls';
import { ABANDON, RECLAIM } from './queue-scripts';
import { JobTaking } from './job-taking';

/** Length of BullMQ's event streams. Only BullMQ's dashboards read them, so they are short. */
const KEPT_EVENTS = 200;

/** Adds a job to a shared queue. */
const ADD: Script = { name: 'addOne', body: 'add()', isRefusedWhenFull: true };

/** Adds a job to an engine's own queue. */
const ADD_KEPT: Script = { name: 'addKept', body: 'add()\nkeep()', isRefusedWhenFull: true };

/** The ledger, not BullMQ, limits how often a job may stall. */
const ANY_NUMBER = 1_000_000_000;

/** The queues as BullMQ queues, one per name, so that its dashboards and tools can show them. */
export class RedisQueues implements JobQueues {
  private readonly queues = new Map<QueueName, BullQueue>();
  private readonly consumers = new Set<RedisConsumer>();
  private readonly ledger: LedgerCalls;
  private readonly bull: BullCalls;

  constructor(
    private readonly link: RedisLink,
    private readonly keys: Keys,
    private readonly times: TransportTimes,
  ) {
    this.ledger = new LedgerCalls(keys, times);
    this.bull = new BullCalls(link.commands);
    link.onRestore(async () => {
      for (const { keys: names } of this.queues.values()) await this.shortenEvents(names['meta']);
    });
  }

  /** The first use loads BullMQ, which takes a fifth of a second. */
  load(): void {
    assert(Queue, 'BullMQ is loaded');
  }

  async add(queue: QueueName, jobs: readonly EngineJob[]): Promise<void> {
    const bull = this.queue(queue);
    await this.link.ask('add jobs', () =>
      Promise.all(jobs.map(async (job) => this.addOne(bull, job))),
    );
  }

  private async addOne(bull: BullQueue, job: EngineJob): Promise<void> {
    const { scripts } = this.link;
    const add = await this.bull.add(bull, job);
    if (isOwn(bull)) await scripts.runTogether(ADD_KEPT, { add, keep: expireAdded(bull, job) });
    else await scripts.runTogether(ADD, { add });
  }

  consume(queue: QueueName, options: ConsumeOptions): JobConsumer {
    const worker: BullWorker = new Worker(bullName(queue), null, {
      connection: this.link.commands,
      prefix: this.keys.queues,
      skipVersionCheck: true,
      lockDuration: this.times.lockMs,
      // Each consumer checks at this interval; the key that admits only one of them must have
      // expired by then.
      stalledInterval: Math.max(1, this.times.stalledCheckMs - 20),
      maxStalledCount: ANY_NUMBER,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    // The awaiting caller handles a failure; BullMQ also emits it.
    worker.on('error', () => undefined);
    const { link, ledger, times } = this;
    const steps = new JobSteps({ link, worker, ledger, queueOf: (name) => this.queue(name) });
    const taking = new JobTaking({
      link,
      worker,
      ledger,
      begins: options.begins,
      momentMs: times.deferenceMs,
    });
    const consumer = new RedisConsumer({ link, worker, times, steps, taking }, options);
    const life = isOwn(worker)
      ? new QueueExpiry(this.link, worker, this.times.queueLifeMs)
      : undefined;
    worker.once('closed', () => {
      life?.close();
      this.consumers.delete(consumer);
    });
    this.consumers.add(consumer);
    return consumer;
  }

  async waiting(queue: QueueName): Promise<number> {
    const { keys } = this.queue(queue);
    const [plain, prioritized] = await this.link.ask('count jobs', () =>
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

  async release(queue: QueueName, ended: ProcessId): Promise<void> {
    const bull = this.queue(queue);
    const { commands } = this.link;
    await this.link.call('release jobs', async () => {
      const ids = await commands.lrange(bull.keys['active'] ?? '', 0, -1);
      const tokens = await Promise.all(ids.map((id) => commands.get(`${bull.toKey(id)}:lock`)));
      const moves = ids.map(async (id, i) => {
        const token = tokens[i];
        if (!token?.startsWith(holderOf(ended))) return;
        // A job whose lock has run out meanwhile stalls, and returns so.
        await bull.scripts.moveJobFromActiveToWait(id, token).catch(() => undefined);
      });
      await Promise.all(moves);
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.consumers].map((consumer) => consumer.close()));
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }

  /** Writes the metadata again, which BullMQ writes once per queue object. */
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
