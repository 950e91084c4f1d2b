import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestIdOf, type Workload } from './workload';
import { WorkloadBuilder } from './workload-builder';

const contentsOf = (workload: Workload, row: number): number[] =>
  Array.from(
    workload.contentIds.subarray(workload.contentStart[row], workload.contentStart[row + 1]),
  );

describe('WorkloadBuilder', () => {
  it('sorts rows by arrival, and keeps the order of equal arrivals', () => {
    const stamps = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 200 });
    fc.assert(
      fc.property(stamps, (arrivals) => {
        const builder = new WorkloadBuilder();
        arrivals.forEach((arrivalUs, i) => {
          builder.add({ arrivalUs, promptTokens: i + 1, outputTokens: 1, requestId: `r${i}` });
          builder.addContent(1000 + i);
        });
        const workload = builder.build();
        const expected = arrivals.map((at, i) => [at, i] as const).sort((a, b) => a[0] - b[0]);
        const rows = expected.map((_none, row) => row);
        expect(Array.from(workload.arrivalUs)).toEqual(expected.map(([at]) => at));
        expect(Array.from(workload.promptTokens)).toEqual(expected.map(([, i]) => i + 1));
        expect(rows.map((row) => requestIdOf(workload, row))).toEqual(
          expected.map(([, i]) => `r${i}`),
        );
        expect(rows.map((row) => contentsOf(workload, row))).toEqual(
          expected.map(([, i]) => [i + 1]),
        );
      }),
    );
  });

  it('keeps later turns of a conversation behind the first', () => {
    const builder = new WorkloadBuilder();
    const late = builder.add({ arrivalUs: 50, promptTokens: 1, outputTokens: 1 });
    builder.add({ arrivalUs: 7, promptTokens: 2, outputTokens: 1, after: late });
    const early = builder.add({ arrivalUs: 10, promptTokens: 3, outputTokens: 1 });
    builder.add({ arrivalUs: 90, promptTokens: 4, outputTokens: 1, after: early });
    const workload = builder.build();
    expect(Array.from(workload.promptTokens)).toEqual([3, 4, 1, 2]);
    expect(Array.from(workload.after)).toEqual([-1, 0, -1, 2]);
    expect(Array.from(workload.arrivalUs)).toEqual([10, 90, 50, 7]);
  });

  it('numbers contents by first appearance and keeps 0 as private', () => {
    const builder = new WorkloadBuilder();
    builder.add({ arrivalUs: 0, promptTokens: 64, outputTokens: 1 });
    builder.add({ arrivalUs: 1, promptTokens: 64, outputTokens: 1 });
    builder.addContents([9_007_199_254_740_000, 5, 0, 5], 0);
    builder.add({ arrivalUs: 2, promptTokens: 64, outputTokens: 1 });
    const workload = builder.build();
    expect(Array.from(workload.contentStart)).toEqual([0, 0, 4, 4]);
    expect(Array.from(workload.contentIds)).toEqual([1, 2, 0, 2]);
    expect(workload.contentCount).toBe(2);
  });

  it('uses no memory for columns that no row needs', () => {
    const builder = new WorkloadBuilder();
    builder.add({ arrivalUs: 0, promptTokens: 1, outputTokens: 1, priority: 0 });
    const { maxTokens, after, session, priority, contentIds, requestIdStart } = builder.build();
    const lengths = [maxTokens, after, session, priority, contentIds, requestIdStart];
    expect(lengths.map(({ length }) => length)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('fills fields that some rows leave out', () => {
    const builder = new WorkloadBuilder();
    builder.add({ arrivalUs: 0, promptTokens: 1, outputTokens: 1 });
    builder.add({ arrivalUs: 1, promptTokens: 1, outputTokens: 1, session: 7, maxTokens: 9 });
    builder.add({ arrivalUs: 2, promptTokens: 1, outputTokens: 1, priority: -3, requestId: 'ü' });
    builder.add({ arrivalUs: 3, promptTokens: 1, outputTokens: 1 });
    const workload = builder.build();
    expect(Array.from(workload.session)).toEqual([0, 7, 0, 0]);
    expect(Array.from(workload.maxTokens)).toEqual([0, 9, 0, 0]);
    expect(Array.from(workload.priority)).toEqual([0, 0, -3, 0]);
    expect([0, 1, 2, 3].map((row) => requestIdOf(workload, row))).toEqual([
      undefined,
      undefined,
      'ü',
      undefined,
    ]);
  });

  it('builds a workload without requests', () => {
    expect(new WorkloadBuilder().build()).toMatchObject({ count: 0, contentCount: 0 });
  });

  it('refuses a row that waits for a later one', () => {
    const builder = new WorkloadBuilder();
    expect(() => builder.add({ arrivalUs: 0, promptTokens: 1, outputTokens: 1, after: 0 })).toThrow(
      /earlier/,
    );
  });
});
