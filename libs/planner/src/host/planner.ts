import { hostname } from 'node:os';
import { type FileSums, sumsOf } from '../files/named-files';
import { openThreads, type TaskPool } from './task-pool';
import { type PlanningContext } from '../search/planning-context';
import type { PlanTask } from '../candidates/plan-task';
import { Failure } from '@baton/kernel';
import { redisOptionsOf } from '@baton/transport';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { contextFrom, type FarmJob, farmNames, packed, unpacked } from './farm-job';

/** Lock of a trial: after about this time, another planner gets the trial of a killed one. */
const LOCK_MS = 5_000;
const STALLED_CHECK_MS = 2_000;
/** Number of kills that a trial survives. A trial with more is taken as their cause. */
const MOST_STALLS = 50;

export interface Planner {
  /** Ends after the trial under way. */
  close(): Promise<void>;
}

/**
 * A planner: takes one trial after another from the queue and simulates it in a thread, while it
 * renews the lock of its job. It owns its connection, its thread and the context of the last
 * search. It never chooses trials.
 *
 * @param log  gets one line per event
 * @throws Failure when the URL is invalid
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
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    maxStalledCount: MOST_STALLS,
  });
  // BullMQ reconnects to a lost Redis, and the search offers lost trials again.
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
  /** A thread keeps the modules that it has loaded, so `key` names the files too. */
  private open: { key: string; pool: TaskPool } | undefined;

  constructor(
    private readonly redis: Redis,
    private readonly prefix: string,
  ) {}

  /** The packed result of a trial. For a stage: the number of its trials. */
  async perform(job: Job<FarmJob, string | number>): Promise<string | number> {
    if (job.name === 'stage') return Object.keys(await job.getChildrenValues()).length;
    const { search, task, files } = job.data;
    if ((await this.redis.exists(farmNames(this.prefix).cancelled(search))) > 0) {
      throw new UnrecoverableError('The search was cancelled.');
    }
    await job.updateProgress({ planner: process.pid });
    assertSameFiles(files);
    const pool = await this.poolFor(search, files);
    try {
      const [result] = await pool.run([unpacked<PlanTask>(task)], () => undefined);
      return packed(result!);
    } catch (error) {
      await this.close();
      // A run that is refused here would be refused everywhere.
      if (error instanceof Failure) throw new UnrecoverableError(error.message);
      throw error;
    }
  }

  async close(): Promise<void> {
    const { open } = this;
    this.open = undefined;
    await open?.pool.close();
  }

  private async poolFor(search: string, files: FileSums): Promise<TaskPool> {
    const key = `${search} ${JSON.stringify(files)}`;
    if (this.open?.key === key) return this.open.pool;
    await this.close();
    const pool = openThreads(await this.readContext(search), 1);
    this.open = { key, pool };
    return pool;
  }

  private async readContext(search: string): Promise<PlanningContext> {
    const bytes = await this.redis.getBuffer(farmNames(this.prefix).context(search));
    if (bytes === null) throw new Failure('The workload of the search is not in Redis.');
    return contextFrom(bytes);
  }
}

/** A planner reads the files of a search in its own folder; they must have the same content. */
function assertSameFiles(files: FileSums): void {
  const own = sumsOf(Object.keys(files));
  const other = Object.keys(files).find((path) => own[path] !== files[path]);
  if (other === undefined) return;
  throw new UnrecoverableError(
    `${other} is missing or has other content in the folder of the planner on ${hostname()}. ` +
      'Copy the file there and start the search again.',
  );
}
