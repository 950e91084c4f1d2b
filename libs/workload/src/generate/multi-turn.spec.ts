import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import type { Workload } from '../workload';
import { generateMultiTurn, type MultiTurnSpec } from './multi-turn';

const SPEC: MultiTurnSpec = {
  arrivalUs: Float64Array.from({ length: 40 }, (_none, i) => i * 1_000_000),
  count: 1_000,
  turns: { kind: 'uniform', min: 1, max: 6 },
  message: { kind: 'lognormal', mean: 60, sigma: 0.8 },
  output: { kind: 'lognormal', mean: 90, sigma: 0.8 },
  systemTokens: 70,
  thinkTimeMeanUs: 2_000_000,
  maxContextTokens: 100_000,
  blockTokens: 16,
  seed: 1,
};

const listOf = (workload: Workload, row: number): number[] =>
  Array.from(
    workload.contentIds.subarray(workload.contentStart[row], workload.contentStart[row + 1]),
  );

describe('generateMultiTurn', () => {
  it('sends the whole history in each turn, a pause after the previous answer', () => {
    const workload = generateMultiTurn(SPEC);
    expect(workload.after.filter((before) => before === -1).length).toBe(40);
    for (let row = 0; row < workload.count; row++) {
      const before = workload.after[row]!;
      if (before === -1) {
        expect(workload.promptTokens[row]!).toBeGreaterThan(70);
        continue;
      }
      expect(before).toBe(row - 1);
      expect(workload.session[row]).toBe(workload.session[before]);
      const history = workload.promptTokens[before]! + workload.outputTokens[before]!;
      expect(workload.promptTokens[row]!).toBeGreaterThan(history);
      expect(workload.arrivalUs[row]!).toBeGreaterThanOrEqual(0);
    }
  });

  it(
    'shares prompt and answer with later turns, and with other conversations only the ' +
      'system prompt',
    () => {
      fc.assert(
        fc.property(
          fc.nat(),
          fc.constantFrom(1, 16, 32),
          fc.nat(200),
          (seed, blockTokens, system) => {
            const workload = generateMultiTurn({
              ...SPEC,
              count: 30,
              seed,
              blockTokens,
              systemTokens: system,
            });
            const owners = new Map<number, number>();
            const common = Math.floor(system / blockTokens);
            for (let row = 0; row < workload.count; row++) {
              const ids = listOf(workload, row);
              const tokens = workload.promptTokens[row]! + workload.outputTokens[row]!;
              expect(ids.length).toBe(Math.floor(tokens / blockTokens));
              expect(new Set(ids).size).toBe(ids.length);
              if (workload.after[row] !== -1) {
                const before = listOf(workload, row - 1);
                expect(ids.slice(0, before.length)).toEqual(before);
              }
              ids.slice(common).forEach((id) => {
                const session = workload.session[row]!;
                expect(owners.get(id) ?? session).toBe(session);
                owners.set(id, session);
              });
              expect(ids.slice(0, common)).toEqual(
                Array.from({ length: common }, (_none, i) => i + 1),
              );
            }
            expect(Math.max(...workload.contentIds)).toBe(workload.contentCount);
            expect(new Set(workload.contentIds).size).toBe(workload.contentCount);
          },
        ),
        { numRuns: runsOf(20) },
      );
    },
  );

  it('ends a conversation before it outgrows the context', () => {
    const workload = generateMultiTurn({ ...SPEC, maxContextTokens: 400 });
    for (let row = 0; row < workload.count; row++) {
      const tokens = workload.promptTokens[row]! + workload.outputTokens[row]!;
      if (workload.after[row] !== -1) expect(tokens).toBeLessThanOrEqual(400);
    }
    expect(workload.count).toBeLessThan(generateMultiTurn(SPEC).count);
  });

  it('generates exactly the given number of requests', () => {
    expect(generateMultiTurn({ ...SPEC, count: 17 }).count).toBe(17);
    expect(generateMultiTurn({ ...SPEC, count: 0 })).toMatchObject({ count: 0, contentCount: 0 });
  });

  it('gives equal workloads for equal seeds', () => {
    expect(generateMultiTurn(SPEC)).toEqual(generateMultiTurn(SPEC));
    expect(generateMultiTurn(SPEC)).not.toEqual(generateMultiTurn({ ...SPEC, seed: 2 }));
  });
});
