import { describe, expect, it } from 'vitest';
import { generateMultiTurn } from './generate/multi-turn';
import { describeWorkload } from './describe-workload';
import { mergeWorkloads } from './merge';
import { requestIdOf, type Workload } from './workload';
import { WorkloadBuilder } from './workload-builder';

function one(arrivalUs: number, ids: readonly number[] = [], requestId?: string): Workload {
  const builder = new WorkloadBuilder();
  builder.add({ arrivalUs, promptTokens: 64, outputTokens: 1, requestId });
  builder.addContents(ids, 0);
  return builder.build();
}

const chat = (seed: number): Workload =>
  generateMultiTurn({
    arrivalUs: Float64Array.of(0, 10, 20),
    count: 100,
    turns: { kind: 'constant', tokens: 3 },
    message: { kind: 'uniform', min: 10, max: 100 },
    output: { kind: 'uniform', min: 10, max: 100 },
    systemTokens: 64,
    thinkTimeMeanUs: 1e6,
    maxContextTokens: 1e6,
    blockTokens: 16,
    seed,
  });

describe('mergeWorkloads', () => {
  it('puts requests on one timeline and separates the contents of different workloads', () => {
    const merged = mergeWorkloads([one(5, [1, 2], 'a'), one(3, [1]), one(4)]);
    expect(Array.from(merged.arrivalUs)).toEqual([3, 4, 5]);
    expect(Array.from(merged.contentIds)).toEqual([3, 1, 2]);
    expect(merged.contentCount).toBe(3);
    expect([0, 1, 2].map((row) => requestIdOf(merged, row))).toEqual([undefined, undefined, 'a']);
  });

  it('keeps the turns of conversations together', () => {
    const merged = mergeWorkloads([chat(1), chat(2), { ...one(15), contentSpan: 'sequence' }]);
    expect(merged.count).toBe(19);
    for (let row = 0; row < merged.count; row++) {
      const before = merged.after[row]!;
      if (before === -1) continue;
      expect(before).toBeLessThan(row);
      expect(merged.promptTokens[row]!).toBeGreaterThan(
        merged.promptTokens[before]! + merged.outputTokens[before]!,
      );
    }
    const shares = [chat(1), chat(2)].map((each) => describeWorkload(each));
    const reused = shares.reduce((sum, { promptTokens, reusableShare }) => {
      return sum + promptTokens.total * reusableShare;
    }, 0);
    const { promptTokens, reusableShare } = describeWorkload(merged);
    expect(promptTokens.total * reusableShare).toBeCloseTo(reused, 3);
  });

  it('refuses contents in blocks of different sizes', () => {
    const other = { ...one(1, [1]), contentBlockTokens: 512 };
    expect(() => mergeWorkloads([one(1, [1]), other])).toThrow(/different sizes/);
    expect(mergeWorkloads([one(1), other]).contentBlockTokens).toBe(512);
  });
});
