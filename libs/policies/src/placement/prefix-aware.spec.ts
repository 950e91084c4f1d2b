import { RandomStream } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildPolicy } from './build-policy';
import { PrefixAware } from './prefix-aware';
import { engineView, idleEngines, placementContext } from '../../test/test-context';

const engines = [
  engineView({ engineId: 'a', waitingTokens: 600 }),
  engineView({ engineId: 'b', waitingTokens: 100 }),
];

/** Of 1,000 prompt tokens at 1 µs each. */
const choose = (cachedOnA: number, balanceThreshold?: number) =>
  new PrefixAware({ kind: 'prefix-aware', balanceThreshold }).choose(
    placementContext({ engines, cached: { a: cachedOnA } }),
  );

describe('PrefixAware on stages that compute prompts', () => {
  it('chooses the prefix when queue and rest take less time than the whole prompt elsewhere', () => {
    // a: 600 + (1000 - 512) = 1088 and 600 + (1000 - 480) = 1120; b: 100 + 1000 = 1100.
    expect(choose(512)).toBe(0);
    expect(choose(480)).toBe(1);
  });

  it('keeps to the longest prefix up to the balance threshold', () => {
    // a: 600 + 900 = 1500, 1.36 times the smallest.
    expect(choose(100, 1.3)).toBe(1);
    expect(choose(100, 1.4)).toBe(0);
  });

  it('spreads unknown prompts over idle engines', () => {
    const policy = new PrefixAware({ kind: 'prefix-aware' });
    const context = placementContext({ engines: idleEngines(3) });
    expect([1, 2, 3, 4, 5].map(() => policy.choose(context))).toEqual([0, 1, 2, 0, 1]);
  });

  it('finds the smallest estimate without thresholds', () => {
    const waiting = fc.array(fc.tuple(fc.nat(5_000), fc.nat(999)), { minLength: 1 });
    fc.assert(
      fc.property(waiting, (loads) => {
        const views = loads.map(([waitingTokens], i) =>
          engineView({ engineId: `e${i}`, waitingTokens }),
        );
        const cached = Object.fromEntries(loads.map(([, tokens], i) => [`e${i}`, tokens]));
        const chosen = new PrefixAware({ kind: 'prefix-aware' }).choose(
          placementContext({ engines: views, cached }),
        );
        const estimate = ([tokens, known]: [number, number]) => tokens + 1_000 - known;
        expect(estimate(loads[chosen]!)).toBe(Math.min(...loads.map(estimate)));
      }),
    );
  });
});

describe('PrefixAware for decode', () => {
  const loaded = [
    engineView({ engineId: 'a', kvTokens: 5_000 }),
    engineView({ engineId: 'b', kvTokens: 4_500 }),
  ];
  const context = placementContext({ engines: loaded, stage: 'decode', cached: { a: 600 } });

  it('weighs tokens that need no transfer against tokens of load', () => {
    const weighed = (overlapWeight: number) =>
      new PrefixAware({ kind: 'prefix-aware', overlapWeight }).choose(context);
    expect(weighed(1)).toBe(0);
    expect(weighed(0.8)).toBe(1);
    expect(weighed(0)).toBe(1);
  });
});

describe('buildPolicy', () => {
  it.each([
    { kind: 'prefix-aware', balanceThreshold: 0.9 },
    { kind: 'prefix-aware', overlapWeight: -1 },
    { kind: 'session-sticky', loadFactor: 1 },
    { kind: 'session-sticky', virtualNodes: 0 },
  ] as const)('refuses %j', (spec) => {
    expect(() => buildPolicy(spec, RandomStream.root(1))).toThrow('must');
  });
});
