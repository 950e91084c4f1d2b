import { describe, expect, it } from 'vitest';
import { head, pick, within } from './rows';
import { requestIdOf, type Workload } from './workload';
import { WorkloadBuilder } from './workload-builder';

/** Three conversations of two turns that begin at 0, 10 and 20. */
function conversations(): Workload {
  const builder = new WorkloadBuilder();
  for (const begin of [0, 10, 20]) {
    const first = builder.add({
      arrivalUs: begin,
      promptTokens: 32,
      outputTokens: 1,
      requestId: `begin ${begin}`,
    });
    builder.addContents([begin + 1, begin + 2], 0);
    builder.add({ arrivalUs: 5, promptTokens: 32, outputTokens: 2, after: first });
    builder.addContents([begin + 1], 0);
  }
  return builder.build();
}

describe('pick', () => {
  it('picks rows with their lists and renumbers the rows that they wait for', () => {
    const picked = pick(conversations(), [4, 0, 5]);
    expect(Array.from(picked.arrivalUs)).toEqual([20, 0, 5]);
    expect(Array.from(picked.after)).toEqual([-1, -1, 0]);
    expect(Array.from(picked.contentStart)).toEqual([0, 2, 4, 5]);
    expect(Array.from(picked.contentIds)).toEqual([5, 6, 1, 2, 5]);
    expect(requestIdOf(picked, 1)).toBe('begin 0');
  });

  it('refuses a row without the row that it waits for', () => {
    expect(() => pick(conversations(), [1])).toThrow(/waits/);
    expect(() => pick(conversations(), [1, 0])).toThrow(/waits/);
  });
});

describe('head', () => {
  it('equals picking the first rows', () => {
    const workload = conversations();
    for (let count = 0; count <= workload.count; count++) {
      const order = Array.from({ length: count }, (_none, row) => row);
      expect(head(workload, count)).toEqual(pick(workload, order));
    }
    expect(head(workload, 100)).toBe(workload);
  });
});

describe('within', () => {
  it('keeps conversations that begin in time, with all later turns', () => {
    const kept = within(conversations(), 20);
    expect(Array.from(kept.arrivalUs)).toEqual([0, 5, 10, 5]);
    expect(within(conversations(), 21).count).toBe(6);
    expect(within(conversations(), 0).count).toBe(0);
  });
});
