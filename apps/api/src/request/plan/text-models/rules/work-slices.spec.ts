import { spendWork, workSpent } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { inSlices } from './work-slices';

/** Spends so much work in as many steps. */
function* spending(steps: number, units: number): Generator<void, string> {
  for (let step = 0; step < steps; step++) {
    yield;
    spendWork(units);
  }
  return 'done';
}

/** The work of each turn of the event loop until the promise is settled. */
async function workOfTurns(run: () => Promise<unknown>): Promise<number[]> {
  const turns: number[] = [];
  let before = workSpent();
  let isOver = false;
  const note = (): void => {
    turns.push(workSpent() - before);
    before = workSpent();
    if (!isOver) setImmediate(note);
  };
  setImmediate(note);
  await run().finally(() => (isOver = true));
  turns.push(workSpent() - before);
  return turns;
}

describe('work in slices', () => {
  it('that is little is done at once', () => {
    const before = workSpent();
    void inSlices(spending(10, 100));
    expect(workSpent() - before).toBe(1_000);
  });

  it('takes one slice of a turn after the first, also for several requests together', async () => {
    const run = (): Promise<string> => inSlices(spending(400, 1_000));
    const [first, ...others] = await workOfTurns(() => Promise.all([run(), run(), run()]));
    expect(first).toBe(3 * 25_000);
    expect(Math.max(...others)).toBe(25_000);
  });

  it('is refused when it is too much in all, or between two pauses', async () => {
    const refusal = { code: 'request_too_complex' };
    await expect(inSlices(spending(3_001, 1_000))).rejects.toMatchObject(refusal);
    expect(await inSlices(spending(3_000, 1_000))).toBe('done');
    await expect(inSlices(spending(1, 100_001))).rejects.toMatchObject(refusal);
  });

  it('is refused when too many requests wait to continue', async () => {
    const all = Array.from({ length: 66 }, () => inSlices(spending(30, 1_000)));
    const ended = await Promise.allSettled(all);
    const refused = ended.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'threads_busy' } }]);
  });
});
