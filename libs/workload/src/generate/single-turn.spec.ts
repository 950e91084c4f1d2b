import { describe, expect, it } from 'vitest';
import { describeWorkload } from '../describe-workload';
import type { Workload } from '../workload';
import { budgetWorkload } from './budget-workload';
import { generateSingleTurn, type SingleTurnSpec } from './single-turn';

const SPEC: SingleTurnSpec = {
  arrivalUs: Float64Array.from({ length: 2_000 }, (_none, i) => i * 1_000),
  prompt: { kind: 'uniform', min: 1, max: 900 },
  output: { kind: 'constant', tokens: 20 },
  blockTokens: 16,
  seed: 1,
};

describe('generateSingleTurn', () => {
  it('have exactly the given lengths, and no shared content', () => {
    const workload = generateSingleTurn({ ...SPEC, prompt: { kind: 'constant', tokens: 777 } });
    expect(new Set(workload.promptTokens)).toEqual(new Set([777]));
    expect(new Set(workload.outputTokens)).toEqual(new Set([20]));
    expect(workload.contentIds.length).toBe(0);
    expect(workload.contentStart.length).toBe(workload.count + 1);
  });

  it('draws lengths that do not depend on the number of requests', () => {
    const all = generateSingleTurn(SPEC);
    const few = generateSingleTurn({ ...SPEC, arrivalUs: SPEC.arrivalUs.subarray(0, 10) });
    expect(few.promptTokens).toEqual(all.promptTokens.subarray(0, 10));
    expect(generateSingleTurn({ ...SPEC, seed: 2 }).promptTokens).not.toEqual(all.promptTokens);
  });

  it('puts a prefix of the given length before every prompt', () => {
    const workload = generateSingleTurn({
      ...SPEC,
      shared: { prefixes: 3, popularity: { kind: 'uniform' }, prefixTokens: 100 },
    });
    expect(workload.promptTokens.every((tokens) => tokens > 100)).toBe(true);
    expect(workload.contentCount).toBe(3 * 6);
    const firsts = new Set<number>();
    for (let row = 0; row < workload.count; row++) {
      const from = workload.contentStart[row]!;
      const ids = Array.from(workload.contentIds.subarray(from, workload.contentStart[row + 1]));
      expect(ids).toEqual([0, 1, 2, 3, 4, 5].map((i) => ids[0]! + i));
      firsts.add(ids[0]!);
    }
    expect(firsts).toEqual(new Set([1, 7, 13]));
  });

  it('shares the given part of the full blocks of every prompt', () => {
    const workload = generateSingleTurn({
      ...SPEC,
      shared: { prefixes: 5, popularity: { kind: 'uniform' }, share: 0.25 },
    });
    for (let row = 0; row < workload.count; row++) {
      const shared = workload.contentStart[row + 1]! - workload.contentStart[row]!;
      expect(shared).toBe(Math.round(Math.floor(workload.promptTokens[row]! / 16) / 4));
    }
    expect(Math.max(...workload.contentIds)).toBe(workload.contentCount);
  });

  it('uses prefix k in proportion to 1 / k^s', () => {
    const workload = generateSingleTurn({
      ...SPEC,
      arrivalUs: new Float64Array(60_000),
      shared: { prefixes: 4, popularity: { kind: 'zipf', exponent: 1 }, prefixTokens: 16 },
    });
    const counts = [0, 0, 0, 0];
    for (const id of workload.contentIds) counts[id - 1]! += 1;
    const whole = 1 + 1 / 2 + 1 / 3 + 1 / 4;
    counts.forEach((times, k) => {
      expect(Math.abs(times / (60_000 / whole / (k + 1)) - 1)).toBeLessThan(0.05);
    });
  });

  it.each([
    { prefixes: 0, popularity: { kind: 'uniform' }, share: 0.5 },
    { prefixes: 1, popularity: { kind: 'uniform' }, share: 1.5 },
    { prefixes: 1, popularity: { kind: 'zipf', exponent: -1 }, share: 0.5 },
  ] as const)('refuses %j', (shared) => {
    expect(() => generateSingleTurn({ ...SPEC, shared })).toThrow(/invalid|at least one/);
  });
});

const bytes = (workload: Workload): Buffer =>
  Buffer.concat(
    Object.values(workload).flatMap((value) =>
      ArrayBuffer.isView(value) ? [Buffer.from(value.buffer)] : [],
    ),
  );

describe('budgetWorkload', () => {
  it('has the rate, the lengths and the sharing of the budget', () => {
    const workload = budgetWorkload({ ratePerSecond: 100, count: 50_000 });
    const { ratePerSecond, promptTokens, outputTokens } = describeWorkload(workload);
    expect(Math.abs(ratePerSecond / 100 - 1)).toBeLessThan(0.02);
    expect(Math.abs(promptTokens.mean / 1024 - 1)).toBeLessThan(0.01);
    expect(Math.abs(outputTokens.mean / 128 - 1)).toBeLessThan(0.01);
    const blocks = workload.promptTokens.reduce((sum, tokens) => sum + Math.floor(tokens / 16), 0);
    expect(workload.contentIds.length / blocks).toBeCloseTo(0.5, 2);
    const again = budgetWorkload({ ratePerSecond: 100, count: 50_000, seed: 1 });
    expect(Buffer.compare(bytes(again), bytes(workload))).toBe(0);
  });
});
