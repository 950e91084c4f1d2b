import { setTimeout as pause } from 'node:timers/promises';
import { Failure } from '@baton/kernel';
import type { PlanTask, TaskResult } from '../candidates/plan-task';
import { filesNamedIn, sumsOf } from '../files/named-files';
import { type PlanningContext } from '../search/planning-context';

import { type TaskPool } from './task-pool';
import { redisOptionsOf } from '@baton/transport';
import { FlowProducer, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { type FarmJob, farmNames, jobIdOf, packed, searchOf, unpacked } from './farm-job';

const POLL_MS = 250;
/** A search ends when Redis does not answer for this long. It can be resumed. */
const PATIENCE_MS = 60_000;
/** Results are kept for this time, in seconds, for a search that is started again. */
const KEPT_S = 86_400;
/** Longer than any trial under way when its search is cancelled, in seconds. */
const CANCELLED_S = 600;
const ATTEMPTS = 3;
const RETRY_MS = 1_000;

export interface FarmOptions {
  readonly url: string;
  readonly prefix: string;
}

/** @throws Failure when the URL is invalid or the context is too large */
export function openFarm(context: PlanningContext, options: FarmOptions): FarmPool {
  return new FarmPool(context, options);
}

/**
 * Performs trials on the planners that share a Redis: a tree of BullMQ jobs per stage, one child
 * per trial. Redis is not the source of truth: trials that it loses are offered again, and a trial
 * with a result is not repeated. The pool owns its connections and the names of its jobs. It never
 * simulates.
 */
export class FarmPool implements TaskPool {
  private readonly search: ReturnType<typeof searchOf>;
  private readonly redis: Redis;
  private readonly queue: Queue<FarmJob>;
  private readonly flows: FlowProducer;
  private readonly names: ReturnType<typeof farmNames>;
  /** Jobs without a result. */
  private readonly open = new Set<string>();
  /** Sums of files, read once per search. */
  private readonly sums = new Map<string, string>();

  constructor(
    private readonly context: PlanningContext,
    { url, prefix }: FarmOptions,
  ) {
    this.search = searchOf(context);
    this.names = farmNames(prefix);
    const connection = redisOptionsOf(url);
    this.redis = new Redis({ ...connection, maxRetriesPerRequest: 1 });
    this.queue = new Queue(this.names.queue, { connection });
    this.flows = new FlowProducer({ connection });
    // A lost connection fails the calls; ioredis reconnects without this code.
    const ignore = (): void => undefined;
    this.redis.on('error', ignore);
    this.queue.on('error', ignore);
    this.flows.on('error', ignore);
  }

  async run(tasks: readonly PlanTask[], onDone: (done: number) => void): Promise<TaskResult[]> {
    const jobs = tasks.map((task) => this.jobOf(task));
    const results = new Map<string, TaskResult>();
    for (const { id } of jobs) this.open.add(id);
    let answeredMs = performance.now();
    let hasBegun = false;
    while (jobs.some(({ id }) => !results.has(id))) {
      try {
        if (!hasBegun) await this.forgetFailures(jobs);
        hasBegun = true;
        await this.turn(jobs, results);
        answeredMs = performance.now();
      } catch (error) {
        if (error instanceof Failure) throw error;
        if (performance.now() - answeredMs > PATIENCE_MS) throw redisIsGone();
      }
      onDone(jobs.filter(({ id }) => results.has(id)).length);
      if (jobs.some(({ id }) => !results.has(id))) await pause(POLL_MS);
    }
    return jobs.map(({ id }) => results.get(id)!);
  }

  /** Removes trials that no planner has started. Results of other trials stay. */
  async cancel(): Promise<void> {
    await this.redis.set(this.names.cancelled(this.search.name), '1', 'EX', CANCELLED_S);
    for (const id of this.open) await this.queue.remove(id).catch(() => 0);
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.queue.close(), this.flows.close()]);
    this.redis.disconnect();
  }

  private jobOf(task: PlanTask): OpenJob {
    const { config } = this.context;
    const paths = filesNamedIn(config, task.cluster);
    const files = Object.fromEntries(paths.map((path) => [path, this.sumOf(path)]));
    const data: FarmJob = { search: this.search.name, task: packed(task), files };
    return { id: jobIdOf(data), data };
  }

  private sumOf(path: string): string {
    const sum = this.sums.get(path) ?? sumsOf([path])[path]!;
    this.sums.set(path, sum);
    return sum;
  }

  /**
   * Removes failures of an earlier search: its trials fail as cancelled when their planners stalled
   * before Ctrl-C and others took them after it.
   */
  private async forgetFailures(jobs: readonly OpenJob[]): Promise<void> {
    await this.redis.del(this.names.cancelled(this.search.name));
    await Promise.all(jobs.map(({ id }) => this.forgetFailure(id)));
  }

  /** Reads the present results, and offers the trials that are not in Redis. */
  private async forgetFailure(id: string): Promise<void> {
    const failed = await this.redis.hmget(this.queue.toKey(id), 'failedReason', 'finishedOn');
    if (failed.every((field) => field != null)) await this.queue.remove(id);
  }

  private async turn(jobs: readonly OpenJob[], results: Map<string, TaskResult>): Promise<void> {
    const lost: FlowChild[] = [];
    for (const { id, data: offered } of jobs) {
      if (results.has(id)) continue;
      const [data, value, reason, finished] = await this.redis.hmget(
        this.queue.toKey(id),
        ...['data', 'returnvalue', 'failedReason', 'finishedOn'],
      );
      if (value != null && finished != null) {
        results.set(id, unpacked<TaskResult>(JSON.parse(value) as string));
        this.open.delete(id);
      } else if (reason != null && finished != null) await this.giveUp(id, reason);
      else if (data == null) lost.push(this.childOf(id, offered));
    }
    if (lost.length > 0) await this.offer(lost);
  }

  /** A failed trial is removed, so that a search that is started again repeats it. */
  private async giveUp(id: string, reason: string): Promise<never> {
    await this.queue.remove(id);
    throw new Failure(`A planner could not perform a trial: ${reason}`);
  }

  private async offer(children: FlowChild[]): Promise<void> {
    const { name, bytes } = this.search;
    await this.redis.set(this.names.context(name), bytes, 'EX', KEPT_S);
    await this.redis.del(this.names.cancelled(name));
    await this.flows.add({
      name: 'stage',
      queueName: this.names.queue,
      data: { search: name, task: '', files: {} },
      opts: { removeOnComplete: true, removeOnFail: true },
      children,
    });
  }

  private childOf(id: string, data: FarmJob): FlowChild {
    return {
      name: 'trial',
      queueName: this.names.queue,
      data,
      opts: {
        jobId: id,
        attempts: ATTEMPTS,
        backoff: { type: 'fixed', delay: RETRY_MS },
        removeOnComplete: { age: KEPT_S },
        removeOnFail: { age: KEPT_S },
        ignoreDependencyOnFailure: true,
      },
    };
  }
}

interface OpenJob {
  readonly id: string;
  readonly data: FarmJob;
}

type FlowChild = NonNullable<Parameters<FlowProducer['add']>[0]['children']>[number];

function redisIsGone(): Failure {
  return new Failure(
    'The Redis of the planners does not answer. Start it and run the same command again, which ' +
      'continues from there.',
  );
}
