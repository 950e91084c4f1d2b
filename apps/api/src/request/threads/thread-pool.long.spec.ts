import { fileURLToPath } from 'node:url';
import { DEFAULT_TIMES } from '@baton/transport';
import { ProcessClock } from '@baton/clock';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { type Refusal, type TaskOptions, TaskRefused, ThreadPool } from './thread-pool';

const LONG_MS = 600_000;
const ODD_JOBS = fileURLToPath(new URL('../../../test/threads/odd-jobs.cjs', import.meta.url));
const MIB = 1024 * 1024;

const clock = new ProcessClock(DEFAULT_TIMES);
let pool: ThreadPool;

afterEach(() => pool.close());
afterAll(() => clock.stop());

function open(deadlineMs = LONG_MS, heapMib = 64): void {
  pool = new ThreadPool(ODD_JOBS, undefined, clock, deadlineMs, heapMib);
}

function run(task: object, options: Partial<TaskOptions> = {}): Promise<unknown> {
  return pool.run(task, { signal: new AbortController().signal, bytes: 0, ...options });
}

/** A task that ends on request, and the promise of its start. */
function held(): { task: object; begun: () => Promise<unknown>; release: () => void } {
  const cell = new Int32Array(new SharedArrayBuffer(8));
  return {
    task: { kind: 'hold', cell },
    begun: () => vi.waitUntil(() => Atomics.load(cell, 0) === 1, { timeout: LONG_MS }),
    release: () => {
      Atomics.store(cell, 1, 1);
      Atomics.notify(cell, 1);
    },
  };
}

/** Two tasks that hold both threads. */
async function heldThreads(): Promise<{ all: Promise<unknown>; release: () => void }> {
  const both = [held(), held()];
  const all = Promise.all(both.map(({ task }) => run(task)));
  await Promise.all(both.map(({ begun }) => begun()));
  return { all, release: () => both.forEach(({ release }) => release()) };
}

function refused(reason: Refusal): TaskRefused {
  return new TaskRefused(reason);
}

describe('the threads of the API', () => {
  it('give each task its own result', async () => {
    open();
    const values = Array.from({ length: 20 }, (_, value) => value);
    expect(await Promise.all(values.map((value) => run({ kind: 'say', value })))).toEqual(values);
  });

  it('pass on the error of a task, and stay', async () => {
    open();
    const thread = await run({ kind: 'thread' });
    await expect(run({ kind: 'fail', message: 'no' })).rejects.toThrow(new Error('no'));
    expect(await run({ kind: 'thread' })).toBe(thread);
  });

  it('end a task that takes too long, and continue with the next', async () => {
    open(1_500);
    await run({ kind: 'say' });
    await expect(run({ kind: 'spin' })).rejects.toThrow(refused('too-complex'));
    expect(await run({ kind: 'say', value: 'next' })).toBe('next');
  });

  it('refuse a task whose time runs out before it begins as one that may come again', async () => {
    const expiries: (() => void)[] = [];
    const whileAwaited = (_left: unknown, expire: () => void): (() => number) => {
      expiries.push(expire);
      return () => 0;
    };
    pool = new ThreadPool(ODD_JOBS, undefined, { whileAwaited });
    const both = [held(), held()];
    const running = both.map(({ task }) => run(task));
    await Promise.all(both.map(({ begun }) => begun()));
    const waiting = run({ kind: 'say' });
    expiries[2]!();
    await expect(waiting).rejects.toThrow(refused('busy'));
    expiries[0]!();
    await expect(running[0]).rejects.toThrow(refused('too-complex'));
    both[1]!.release();
    expect(await running[1]).toBe('held');
  });

  it('end a task above the limit of memory, and continue with the next', async () => {
    open(LONG_MS, 16);
    await expect(run({ kind: 'fill' })).rejects.toThrow(refused('too-complex'));
    expect(await run({ kind: 'say', value: 'next' })).toBe('next');
  });

  it('refuse a task whose input does not fit beside those that wait', async () => {
    open();
    const threads = await heldThreads();
    const waiting = run({ kind: 'say', value: 'waited' }, { bytes: 300 * MIB });
    await expect(run({ kind: 'say' }, { bytes: 1 })).rejects.toThrow(refused('busy'));
    threads.release();
    expect(await waiting).toBe('waited');
    expect(await run({ kind: 'say', value: 'later' }, { bytes: 1 })).toBe('later');
    await threads.all;
  });

  it.each(['runs', 'waits'])('end a task that %s that nothing awaits any more', async (state) => {
    open();
    const leave = new AbortController();
    const threads = state === 'waits' ? await heldThreads() : undefined;
    const left = run({ kind: 'spin' }, { signal: leave.signal });
    leave.abort();
    await expect(left).rejects.toThrow(refused('left'));
    threads?.release();
    await threads?.all;
    expect(await run({ kind: 'say', value: 'next' })).toBe('next');
  });
});
