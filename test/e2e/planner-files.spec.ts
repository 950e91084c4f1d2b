import { defaultConfig } from '@baton/config';
import { FarmPool, startPlanner, type PlanningContext, type PlanTask } from '@baton/planner';
import { WorkloadBuilder } from '@baton/workload';
import { Queue, UnrecoverableError, Worker } from 'bullmq';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PrivateRedis } from '../support/redis-server';
import { waitUntil } from '../support/wait';

const PREFIX = 'baton';
/** The pool does not read a task or its result. */
const TASK = { cluster: { topology: '1A' } } as unknown as PlanTask;

let redis: PrivateRedis;
let folder = '';
let policy = '';
beforeEach(async () => {
  redis = await PrivateRedis.launch();
  folder = mkdtempSync(join(tmpdir(), 'baton-planner-files-'));
  policy = join(folder, 'mine.mjs');
  writeFileSync(policy, 'first');
});
afterEach(async () => {
  await redis.close();
  rmSync(folder, { recursive: true });
});

/** One search for the results of these trials; returns that of the first. */
async function search(tasks = [TASK]): Promise<unknown> {
  const config = { ...defaultConfig(), placement: policy };
  const context = { config, workload: new WorkloadBuilder({}).build() } as PlanningContext;
  const pool = new FarmPool(context, { url: redis.url, prefix: PREFIX });
  try {
    const [result] = await pool.run(tasks, () => undefined);
    return result;
  } finally {
    await pool.close();
  }
}

/** Runs searches beside a planner that answers each trial in this way. */
async function beside<T>(answer: () => unknown, run: () => Promise<T>): Promise<T> {
  const worker = new Worker(
    `${PREFIX}-planner`,
    (job) => Promise.resolve(job.name === 'stage' ? 1 : serialize(answer()).toString('base64')),
    { connection: { path: redis.socketPath } },
  );
  try {
    return await run();
  } finally {
    await worker.close();
  }
}

describe('a search on planners whose configuration names a file', () => {
  it('repeats its trials when the content of the file has changed, and not before', async () => {
    let trials = 0;
    const results = await beside(
      () => ++trials,
      async () => {
        const same = [await search(), await search()];
        writeFileSync(policy, 'second');
        return [...same, await search()];
      },
    );
    expect(results).toEqual([1, 1, 2]);
  });

  it('ends with an error when the planner has other content', async () => {
    const begun = search();
    const failed = expect(begun).rejects.toThrow(`${policy} is missing or has other content`);
    writeFileSync(policy, 'other');
    const planner = startPlanner({ url: redis.url, prefix: PREFIX }, () => undefined);
    await failed;
    await planner.close();
  });

  it('repeats trials that failed as cancelled after the last search', async () => {
    let isCancelled = true;
    const answer = (): unknown => {
      if (isCancelled) throw new UnrecoverableError('The search was cancelled.');
      return 'result';
    };
    const queue = new Queue(`${PREFIX}-planner`, { connection: { path: redis.socketPath } });
    const tasks = [TASK, { cluster: { topology: '2A' } } as unknown as PlanTask];
    await beside(answer, async () => {
      // The search ends at one failure and removes it; the other stays in Redis.
      await expect(search(tasks)).rejects.toThrow('The search was cancelled.');
      await waitUntil(async () => (await queue.getFailedCount()) > 0, { what: 'a trial failed' });
      isCancelled = false;
      expect(await search(tasks)).toBe('result');
    });
    await queue.close();
  });
});
