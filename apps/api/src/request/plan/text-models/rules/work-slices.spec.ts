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
  // The turn of an earlier test is over.
  await new Promise((resolve) => setTimeout(resolve, 0));
  const turns: number[] = [];
  let before = workSpent();
  let isOver = false;
  const note = (): void => {
    turns.push(workSpent() - before);
    before = workSpent();
    if (!isOver) setTimeout(note, 0);
  };
  setTimeout(note, 0);
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

  it('takes one slice of a turn, also for several requests together', async () => {
    const run = (): Promise<string> => inSlices(spending(400, 1_000));
    const three = (): Promise<string[]> => Promise.all([run(), run(), run()]);
    expect(Math.max(...(await workOfTurns(three)))).toBe(25_000);
  });

  it('begins one of several large pieces that arrive together per turn', async () => {
    const ten = (): Promise<unknown> =>
      Promise.allSettled(Array.from({ length: 10 }, () => inSlices(spending(1, 70_000))));
    expect(Math.max(...(await workOfTurns(ten)))).toBe(70_000);
  });

  it('begins as many small requests in a turn as one slice has work', async () => {
    const many = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 100 }, () => inSlices(spending(1, 5_000))));
    const turns = (await workOfTurns(many)).filter((work) => work > 0);
    expect(turns).toEqual(Array.from({ length: 20 }, () => 25_000));
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
