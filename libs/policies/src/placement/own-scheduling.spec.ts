import type { WaitingView } from '@baton/engine';
import { describe, expect, it } from 'vitest';
import { TestEngine } from '../../../engine/test/test-engine';
import { PolicyError, type PolicyFault } from './guarded';
import { OwnScheduling, watchedScheduling } from './own-scheduling';

type Key = (sequence: WaitingView) => number;

function policyOf(key: Key, tieKey?: Key): OwnScheduling {
  const module = { create: () => ({ key, ...(tieKey && { tieKey }) }) };
  return new OwnScheduling(
    { kind: 'own', path: './a/mine.mjs', module },
    { stage: 'prefill', seed: 1 },
  );
}

/** The order in which an engine that runs one sequence at a time admits these prompts. */
function admitted(schedulingPolicy: OwnScheduling, lengths: readonly number[]): number[] {
  const test = new TestEngine({ schedulingPolicy, maxNumSeqs: 1 });
  lengths.forEach((promptTokens) => test.submit(`${promptTokens}`, { promptTokens }));
  return test.runToRest().flatMap(({ scheduled }) => scheduled.map(Number));
}

describe("a scheduling policy of the user's own", () => {
  it('orders the waiting queue by its keys, and equal ones by submission', () => {
    expect(
      admitted(
        policyOf(({ promptTokens }) => -promptTokens),
        [3, 9, 5],
      ),
    ).toEqual([9, 5, 3]);
    expect(
      admitted(
        policyOf(() => 0),
        [3, 9, 5],
      ),
    ).toEqual([3, 9, 5]);
  });

  it('never sees the length of the output', () => {
    const seen = new Set<string>();
    const policy = policyOf((sequence) => {
      Object.keys({ ...sequence }).forEach((name) => seen.add(name));
      return 0;
    });
    admitted(policy, [3]);
    expect([...seen].filter((name) => name.toLowerCase().includes('output'))).toEqual([]);
  });

  it('puts a sequence without a number last, by submission, and reports that', () => {
    const faults: PolicyFault[] = [];
    const watch = { onFault: (fault: PolicyFault) => faults.push(fault) };
    // Keys far above any order of submission, like deadlines in µs. Tie keys reverse the order.
    const failing = policyOf(
      ({ promptTokens }) => (promptTokens > 6 ? NaN : 1e9 + promptTokens),
      ({ order }) => -order,
    );
    const { schedulingPolicy } = watchedScheduling({ schedulingPolicy: failing }, watch);
    expect(admitted(schedulingPolicy, [9, 8, 5, 3])).toEqual([3, 5, 9, 8]);
    expect(faults.map(({ message }) => message)).toEqual(
      Array(2).fill('./a/mine.mjs: key (prefill) returned NaN; expected a finite number.'),
    );
  });

  it('puts a sequence without a tie key after those with an equal key and a tie key', () => {
    const watch = { onFault: () => undefined };
    const failing = policyOf(
      () => 7,
      ({ promptTokens }) => (promptTokens === 9 ? NaN : 1e9 - promptTokens),
    );
    const { schedulingPolicy } = watchedScheduling({ schedulingPolicy: failing }, watch);
    expect(admitted(schedulingPolicy, [9, 3, 5])).toEqual([5, 3, 9]);
  });

  it('ends the run at its first fault when nothing counts faults', () => {
    expect(() =>
      admitted(
        policyOf(() => NaN),
        [3],
      ),
    ).toThrow(PolicyError);
  });

  it('does not change options with a built-in policy', () => {
    const options = { schedulingPolicy: 'fcfs' } as const;
    expect(watchedScheduling(options, { onFault: () => undefined })).toBe(options);
  });
});
