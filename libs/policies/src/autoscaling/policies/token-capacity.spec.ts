import { RandomStream } from '@baton/kernel';
import { formatTopology } from '../../placement/topology/topology';
import { describe, expect, it } from 'vitest';
import { contextOf, type Shown } from '../../../test/test-cluster';
import type { ScalePolicy } from '../policy';
import { buildAutoscaler } from '../written/build-autoscaler';
import { parseAutoscaler } from '../written/parse-autoscaler';
import { EngineCapacity } from './capacity';

const CAPACITY = new EngineCapacity({
  stepTime: { description: 'not used', stepUs: () => 1_000 },
  maxNumBatchedTokens: 1_000,
  maxNumSeqs: 256,
  kvTokens: 100_000,
});

function policyOf(text = 'wva-tokens'): ScalePolicy {
  const capacities = { prefill: CAPACITY, decode: CAPACITY, aggregated: CAPACITY };
  return buildAutoscaler(parseAutoscaler(text), { capacities, random: RandomStream.root(1) });
}

/** 600 requests of 1,000 prompt tokens with answers of this length have finished. */
function finished(outputTokens: number): Pick<Shown, 'totals'> {
  const lengths = { promptTokens: 600_000, outputTokens: 600 * outputTokens };
  return { totals: { arrived: 600, finished: 600, ...lengths } };
}

function decided(policy: ScalePolicy, shown: Shown): string {
  const context = contextOf({ atSeconds: 60, ...shown }, { before: { atSeconds: 0 } });
  return formatTopology(policy.decide(context).counts);
}

describe("the token-based analyzer of llm-d's variant autoscaler", () => {
  it.each<[string, Shown, string]>([
    // Two engines hold 151,000 tokens: 177,647 for 85 %, where two have a capacity of 160,000.
    [
      'adds engines when the demand exceeds 85 % of the capacity',
      { engines: '2A', kv: 0.755 },
      '3A',
    ],
    ['counts engines that start', { engines: '2A', starting: '1A', kv: 0.755 }, '3A'],
    ['changes nothing between both thresholds', { engines: '2A', kv: 0.6 }, '2A'],
    // Three hold 90,000: 128,571 for 70 %, which two have.
    ['removes engines when fewer keep 70 %', { engines: '3A', kv: 0.3 }, '2A'],
    ['removes several at once', { engines: '6A', kv: 0.1 }, '2A'],
    // 50,000 in use and 6,000 in the queue, of an engine that takes no more than 50,000.
    [
      'takes what a full engine holds as its capacity',
      { engines: '1A', kv: 0.5, waiting: 6 },
      '2A',
    ],
    [
      'counts requests that no engine has taken',
      { engines: '1A', queued: { aggregated: 100 } },
      '2A',
    ],
  ])('%s', (_name, shown, expected) => {
    expect(decided(policyOf(), { ...finished(100), ...shown })).toBe(expected);
  });

  it('remembers the capacity of full engines, by the length of answers', () => {
    const policy = policyOf();
    decided(policy, { ...finished(100), engines: '1A', kv: 0.5, waiting: 6 });
    const calm: Shown = { engines: '2A', kv: 0.25 };
    // 71,428 for 70 %: too many for one engine of 50,000, not for one of 80,000.
    expect(decided(policy, { ...finished(100), ...calm })).toBe('2A');
    expect(decided(policy, { ...finished(600), ...calm })).toBe('1A');
    expect(decided(policyOf(), { ...finished(100), ...calm })).toBe('1A');
  });

  it('forgets all but the last ten', () => {
    const policy = policyOf();
    const full = (kv: number) =>
      decided(policy, { ...finished(100), engines: '1A', kv, waiting: 6 });
    for (let i = 0; i < 10; i++) full(0.3);
    for (let i = 0; i < 10; i++) full(0.8);
    expect(decided(policy, { ...finished(100), engines: '2A', kv: 0.25 })).toBe('1A');
  });

  it('estimates the capacity of prefill from the token budget of a step', () => {
    // 1,000 tokens per step for prompts of 1,000: a capacity of 999. 500 in use, 3,000 waiting.
    const shown: Shown = { ...finished(100), engines: '1P1D', kv: 0.005, queued: { prefill: 3 } };
    expect(decided(policyOf(), shown)).toBe('5P1D');
  });

  it('uses the memory alone before a request has finished', () => {
    expect(decided(policyOf(), { engines: '2A', kv: 0.755 })).toBe('3A');
  });

  it('has thresholds of its own', () => {
    const shown: Shown = { ...finished(100), engines: '2A', kv: 0.6 };
    expect(decided(policyOf('wva-tokens:up=0.7:down=0.5'), shown)).toBe('3A');
    expect(decided(policyOf('wva-tokens:kv=0.5'), shown)).toBe('3A');
    expect(() => parseAutoscaler('wva-tokens:up=0.5')).toThrow('down must be below up');
    expect(() => parseAutoscaler('wva-tokens:down=0')).toThrow('a number from 0.01 to 1');
  });
});
