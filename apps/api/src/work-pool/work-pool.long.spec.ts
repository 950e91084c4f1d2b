import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFileSync } from '@swc/core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WorkPool, type WorkPoolOptions } from './work-pool';
import { WorkRefused, type WorkRefusal } from './work-refused';

const LONG_MS = 600_000;
const SERVE_WORK = fileURLToPath(new URL('serve-work.ts', import.meta.url));
const ODD_JOBS = fileURLToPath(new URL('../../test/work-pool/odd-jobs.cjs', import.meta.url));

let folder: string;
let pool: WorkPool;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-pool-'));
  const { code } = transformFileSync(SERVE_WORK, { module: { type: 'commonjs' } });
  writeFileSync(join(folder, 'serve-work.cjs'), code);
  copyFileSync(ODD_JOBS, join(folder, 'odd-jobs.cjs'));
});

afterEach(() => pool.close());
afterAll(() => rmSync(folder, { recursive: true }));

function open(options: Partial<WorkPoolOptions> = {}): WorkPool {
  pool = new WorkPool({
    entry: join(folder, 'odd-jobs.cjs'),
    data: undefined,
    threads: 1,
    maxWaiting: 8,
    maxWaitingBytes: 1_000,
    maxWaitMs: LONG_MS,
    cpuMs: LONG_MS,
    wallMs: LONG_MS,
    heapMb: 64,
    idleMs: LONG_MS,
    ...options,
  });
  return pool;
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

function refused(reason: WorkRefusal): WorkRefused {
  return new WorkRefused(reason);
}

describe('a pool of threads', () => {
  it('gives each task its own result', async () => {
    const values = Array.from({ length: 20 }, (_, value) => value);
    open({ threads: 2, maxWaiting: 20 });
    const results = await Promise.all(values.map((value) => pool.run({ kind: 'say', value })));
    expect(results).toEqual(values);
    expect(pool.size).toBe(2);
  });

  it('passes on the error of a task, and keeps its thread', async () => {
    open();
    const thread = await pool.run({ kind: 'thread' });
    await expect(pool.run({ kind: 'fail', message: 'no' })).rejects.toThrow(new Error('no'));
    expect(await pool.run({ kind: 'thread' })).toBe(thread);
  });

  it('ends a task above its limit of CPU time, and continues with the next', async () => {
    open({ cpuMs: 100 });
    const endless = pool.run({ kind: 'spin' });
    const next = pool.run({ kind: 'say', value: 'next' });
    await expect(endless).rejects.toThrow(refused('too-complex'));
    expect(await next).toBe('next');
  });

  it('takes the time of each task from the budget that it shares', async () => {
    open({ cpuMs: LONG_MS });
    const budget = { cpuMs: 300 };
    expect(await pool.run({ kind: 'work', ms: 100 }, { budget })).toBe('worked');
    expect(budget.cpuMs).toBeLessThanOrEqual(210);
    await expect(pool.run({ kind: 'spin' }, { budget })).rejects.toThrow(refused('too-complex'));
    expect(budget.cpuMs).toBeLessThanOrEqual(0);
    const late = pool.run({ kind: 'say', value: 'late' }, { budget });
    await expect(late).rejects.toThrow(refused('too-complex'));
    expect(await pool.run({ kind: 'say', value: 'other' })).toBe('other');
  });

  it('ends a task that takes no CPU time, after a longer time', async () => {
    open({ cpuMs: 50, wallMs: 200 });
    await expect(pool.run(held().task)).rejects.toThrow(refused('too-complex'));
  });

  it('ends a task above its limit of memory, and continues with the next', async () => {
    open({ heapMb: 16 });
    const greedy = pool.run({ kind: 'fill' });
    const next = pool.run({ kind: 'say', value: 'next' });
    await expect(greedy).rejects.toThrow(refused('too-complex'));
    expect(await next).toBe('next');
  });

  it('refuses a task when the queue is full', async () => {
    open({ maxWaiting: 1 });
    const first = held();
    const running = pool.run(first.task);
    await first.begun();
    const waiting = pool.run({ kind: 'say', value: 'waited' });
    await expect(pool.run({ kind: 'say', value: 'late' })).rejects.toThrow(refused('busy'));
    first.release();
    expect(await Promise.all([running, waiting])).toEqual(['held', 'waited']);
  });

  it('refuses a task whose input does not fit beside those that wait', async () => {
    open({ maxWaitingBytes: 100 });
    const first = held();
    const running = pool.run(first.task);
    await first.begun();
    const waiting = pool.run({ kind: 'say', value: 'waited' }, { bytes: 101 });
    const late = pool.run({ kind: 'say', value: 'late' }, { bytes: 1 });
    await expect(late).rejects.toThrow(refused('busy'));
    first.release();
    expect(await Promise.all([running, waiting])).toEqual(['held', 'waited']);
    const second = held();
    const again = pool.run(second.task);
    await second.begun();
    const both = [60, 40].map((bytes) => pool.run({ kind: 'say', value: bytes }, { bytes }));
    second.release();
    expect(await Promise.all([again, ...both])).toEqual(['held', 60, 40]);
  });

  it('continues a request before it begins another one', async () => {
    open();
    const first = held();
    const running = pool.run(first.task);
    await first.begun();
    const order: string[] = [];
    const say = (value: string, isContinued: boolean): Promise<unknown> =>
      pool.run({ kind: 'say' }, { isContinued }).then(() => order.push(value));
    const all = [say('new', false), say('continued', true), say('newer', false)];
    first.release();
    await Promise.all([running, ...all]);
    expect(order).toEqual(['continued', 'new', 'newer']);
  });

  it('refuses a task that has waited too long, but not one under way', async () => {
    open({ maxWaitMs: 20 });
    const first = held();
    const running = pool.run(first.task);
    await first.begun();
    await expect(pool.run({ kind: 'say' })).rejects.toThrow(refused('busy'));
    first.release();
    expect(await running).toBe('held');
  });

  it.each(['runs', 'waits'])('ends a task that %s that nothing awaits any more', async (state) => {
    open();
    const leave = new AbortController();
    const other = held();
    const before = state === 'waits' ? pool.run(other.task) : undefined;
    const left = pool.run({ kind: 'spin' }, { signal: leave.signal });
    leave.abort();
    await expect(left).rejects.toThrow(refused('left'));
    other.release();
    expect(await before).toBe(state === 'waits' ? 'held' : undefined);
    expect(await pool.run({ kind: 'say', value: 'next' })).toBe('next');
  });

  it('ends a thread without a task for some time', async () => {
    open({ idleMs: 1 });
    await pool.run({ kind: 'say' });
    await vi.waitUntil(() => pool.size === 0, { timeout: LONG_MS });
    expect(await pool.run({ kind: 'say', value: 'again' })).toBe('again');
  });

  it('refuses all tasks once it is closed', async () => {
    open();
    const first = held();
    const running = pool.run(first.task);
    const waiting = pool.run({ kind: 'say' });
    pool.close();
    await expect(running).rejects.toThrow(refused('left'));
    await expect(waiting).rejects.toThrow(refused('left'));
    await expect(pool.run({ kind: 'say' })).rejects.toThrow(refused('left'));
    expect(pool.size).toBe(0);
  });
});
