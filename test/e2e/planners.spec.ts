import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SEARCH_OPTIONS, SEARCH_SPACE } from '../support/planner-search.mjs';
import { PERSISTENT, PrivateRedis } from '../support/redis-server';
import { waitUntil } from '../support/wait';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));

let redis: PrivateRedis;
let folder = '';
const started = new Set<ChildProcess>();
beforeEach(async () => {
  redis = await PrivateRedis.launch();
  folder = mkdtempSync(join(tmpdir(), 'baton-planners-'));
  writeFileSync(join(folder, 'fleet.yaml'), SEARCH_SPACE);
});
afterEach(async () => {
  for (const child of started) child.kill('SIGKILL');
  started.clear();
  await redis.close();
  rmSync(folder, { recursive: true });
});

function baton(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [BATON, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  started.add(child);
  child.once('exit', () => started.delete(child));
  return child;
}

function planner(): ChildProcess {
  return baton('up', '--role', 'planner', '--redis', redis.url);
}

function plan(...flags: string[]): { child: ChildProcess; stdout: Promise<string> } {
  const search = ['plan', '--space', join(folder, 'fleet.yaml'), ...SEARCH_OPTIONS, '--json'];
  const child = baton(...search, ...flags);
  let text = '';
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return { child, stdout: new Promise((resolve) => child.once('close', () => resolve(text))) };
}

const onPlanners = (): string[] => ['--planners', '--redis', redis.url];

/**
 * Waits until this many trials of the queue have results, or the search has ended: the fastest
 * planners leave only one to a new server.
 */
async function trialsDone(count: number, search?: ChildProcess): Promise<void> {
  const isOver = (): boolean => search !== undefined && search.exitCode !== null;
  await withQueue((queue) =>
    waitUntil(async () => isOver() || (await queue.getCompletedCount()) >= count, {
      what: `${count} trials have results`,
    }),
  );
}

async function withQueue<T>(ask: (queue: Queue) => Promise<T>): Promise<T> {
  const queue = new Queue('baton-planner', { connection: { path: redis.socketPath } });
  queue.on('error', () => undefined);
  try {
    return await ask(queue);
  } finally {
    await queue.close();
  }
}

/** The first of these planners that performs a trial. Undefined: the search has ended. */
async function firstBusy(
  planners: readonly ChildProcess[],
  search: ChildProcess,
): Promise<ChildProcess | undefined> {
  let found: ChildProcess | undefined;
  await withQueue((queue) =>
    waitUntil(
      async () => {
        const trials = await queue.getActive();
        const pids = trials.map(({ progress }) => (progress as { planner?: number }).planner);
        found = planners.find(({ pid }) => pids.includes(pid));
        return found !== undefined || search.exitCode !== null;
      },
      { what: 'a planner performs a trial' },
    ),
  );
  return found;
}

/** Ids of the trials with results. */
async function idsDone(): Promise<(string | undefined)[]> {
  return withQueue(async (queue) => (await queue.getCompleted()).map(({ id }) => id));
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

describe('a search on planners', () => {
  it('gives the bytes of a local search, though planners and Redis are killed', async () => {
    const local = await plan('--threads', '1').stdout;
    expect(JSON.parse(local)).toHaveProperty('answers.cheapest_for_load.name');

    const first = planner();
    const search = plan(...onPlanners());
    await trialsDone(2, search.child);
    await killed(first);
    const [second, third] = [planner(), planner()];
    await trialsDone(4, search.child);
    await redis.kill();
    await redis.start();
    await trialsDone(2, search.child);
    await killed(third);
    expect(await search.stdout).toBe(local);
    expect(second.exitCode).toBe(null);
  });

  it('gives the bytes of a local search on eight planners, though three busy ones are killed', async () => {
    const local = await plan('--threads', '1').stdout;
    const planners = Array.from({ length: 8 }, planner);
    const search = plan(...onPlanners());
    const living = new Set(planners);
    while (living.size > 5) {
      const busy = await firstBusy([...living], search.child);
      // The fastest planners end the search before the third kill.
      if (busy === undefined) break;
      living.delete(busy);
      await killed(busy);
    }
    expect(living.size).toBeLessThan(8);
    expect(await search.stdout).toBe(local);
    expect([...living].map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual(
      Array(living.size).fill(null),
    );
  });

  it('loses no trial when a Redis with persistence is killed', async () => {
    const local = await plan('--threads', '1').stdout;
    await redis.close();
    redis = await PrivateRedis.launch(...PERSISTENT);
    planner();
    const search = plan(...onPlanners());
    await trialsDone(4, search.child);
    const before = await idsDone();
    await redis.kill();
    await redis.start();
    expect(await idsDone()).toEqual(expect.arrayContaining(before));
    expect(await search.stdout).toBe(local);
    expect(await idsDone()).toEqual(expect.arrayContaining(before));
  });

  it('continues where a killed one stopped', async () => {
    planner();
    const search = plan(...onPlanners());
    await trialsDone(3, search.child);
    await killed(search.child);
    const local = await plan('--threads', '1').stdout;
    expect(await plan(...onPlanners()).stdout).toBe(local);
  });

  it('removes its trials on Ctrl-C', async () => {
    const search = plan(...onPlanners());
    const queue = new Queue('baton-planner', { connection: { path: redis.socketPath } });
    await waitUntil(async () => (await queue.getWaitingCount()) > 0, { what: 'trials wait' });
    search.child.kill('SIGINT');
    await search.stdout;
    expect(await queue.getWaitingCount()).toBeLessThanOrEqual(1);
    await queue.close();
  });
});
