import { openThreads, type PlanningContext, type PoolTask, type TaskPool } from '@baton/planning';
import { Failure } from '@baton/kernel';
import { redisOptionsOf } from '@baton/redis-address';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { contextFrom, type FarmJob, farmNames, packed, unpacked } from './farm-job';

/** A killed planner's trial goes to another one within about so long. */
const LOCK_MS = 5_000;
const STALLED_CHECK_MS = 2_000;
/** Kills that a trial survives; beyond it the trial itself is taken for the cause. */
const MOST_STALLS = 50;

export interface Planner {
  /** Ends after the trial under way. */
  close(): Promise<void>;
}

/**
 * A planner: takes one trial after the other from the queue and simulates it in a thread, so that
 * the lock of its job is renewed meanwhile. Owns its connection, its thread and the context of the
 * last search. It never decides what is tried.
 *
 * @param log  one line per event
 * @throws Failure when the URL cannot be understood
 */
export function startPlanner(
  { url, prefix }: { readonly url: string; readonly prefix: string },
  log: (line: string) => void,
): Planner {
  const redis = new Redis(redisOptionsOf(url));
  redis.on('error', () => undefined);
  const trials = new Trials(redis, prefix);
  const names = farmNames(prefix);
  const worker = new Worker<FarmJob, string | number>(names.queue, (job) => trials.perform(job), {
    connection: redisOptionsOf(url),
    ...{ lockDuration: LOCK_MS, stalledInterval: STALLED_CHECK_MS, maxStalledCount: MOST_STALLS },
  });
  // Redis may go away; BullMQ connects again, and the search offers what was lost once more.
  worker.on('error', (error) => log(`planner: ${error.message}`));
  return {
    close: async () => {
      await worker.close();
      await trials.close();
      redis.disconnect();
    },
  };
}

class Trials {
  private open: { search: string; pool: TaskPool } | undefined;

  constructor(
    private readonly redis: Redis,
    private readonly prefix: string,
  ) {}

  /** The packed result of a trial; of a stage, how many trials it had. */
  async perform(job: Job<FarmJob, string | number>): Promise<string | number> {
    if (job.name === 'stage') return Object.keys(await job.getChildrenValues()).length;
    const { search, task } = job.data;
    if ((await this.redis.exists(farmNames(this.prefix).cancelled(search))) > 0) {
      throw new UnrecoverableError('The search was cancelled.');
    }
    await job.updateProgress({ planner: process.pid });
    const pool = await this.poolFor(search);
    try {
      const [result] = await pool.run([unpacked<PoolTask>(task)], () => undefined);
      return packed(result!);
    } catch (error) {
      await this.close();
      // What a run refuses, it refuses everywhere.
      if (error instanceof Failure) throw new UnrecoverableError(error.message);
      throw error;
    }
  }

  async close(): Promise<void> {
    const { open } = this;
    this.open = undefined;
    await open?.pool.close();
  }

  private async poolFor(search: string): Promise<TaskPool> {
    if (this.open?.search === search) return this.open.pool;
    await this.close();
    const pool = openThreads(await this.contextOf(search), 1);
    this.open = { search, pool };
    return pool;
  }

  private async contextOf(search: string): Promise<PlanningContext> {
    const bytes = await this.redis.getBuffer(farmNames(this.prefix).context(search));
    if (bytes === null) throw new Failure('The workload of the search is not in Redis.');
    return contextFrom(bytes);
  }
}
