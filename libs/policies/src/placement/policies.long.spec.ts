import { RandomStream } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildPolicy, type PolicySpec, POLICY_KINDS } from './build-policy';
import { promptOnly } from './own-policy';
import type { EngineView, PlacementContext } from './policy';
import {
  engineView,
  idleEngines,
  placementContext,
  placementRequest,
} from '../../test/test-context';

const count = fc.nat(1_000);
const engines = fc
  .array(fc.record({ requests: count, waitingTokens: count, kvTokens: count }), { minLength: 1 })
  .map((loads) => loads.map((load, i) => engineView({ engineId: `e${i}`, ...load })));
const stage = fc.constantFrom('prefill' as const, 'decode' as const, 'aggregated' as const);
const scene = fc
  .record({ engines, stage, cached: fc.nat(999), sessionKey: fc.nat(5) })
  .map((facts) =>
    placementContext({
      ...facts,
      request: placementRequest({ sessionKey: facts.sessionKey }),
      cached: { e0: facts.cached },
    }),
  );

const build = (kind: PolicySpec['kind'], seed = 1) =>
  buildPolicy({ kind }, RandomStream.root(seed));

describe.each(POLICY_KINDS)('the policy %s', (kind) => {
  it('chooses one of the engines', () => {
    fc.assert(
      fc.property(scene, (context) => {
        const chosen = build(kind).choose(context);
        expect(context.engines[chosen]).toBeDefined();
      }),
    );
  });

  it('INV-9: chooses the same for the same requests and seed', () => {
    fc.assert(
      fc.property(fc.array(scene), fc.nat(), (contexts, seed) => {
        const [one, other] = [build(kind, seed), build(kind, seed)];
        for (const context of contexts) expect(one.choose(context)).toBe(other.choose(context));
      }),
    );
  });

  it('INV-12: reads only allowed fields, and not the output length', () => {
    const asked = new Set<string>();
    const context = placementContext({
      engines: [0, 1, 2].map((i) => watched(engineView({ engineId: `e${i}` }), asked)),
      request: watched(placementRequest({ sessionKey: 7 }), asked),
    });
    const policy = build(kind);
    for (const now of ['prefill', 'decode', 'aggregated'] as const) {
      policy.choose({ ...context, stage: now });
    }
    const allowed = ['engineId', 'requests', 'waitingTokens', 'kvTokens', 'kvUsage'];
    const known = [...allowed, 'promptTokens', 'sessionKey', 'blockHashes'];
    for (const name of asked) expect(known).toContain(name);
  });
});

describe("the context of a user's module", () => {
  it.each([
    ['numbers', (hashes: number[]) => hashes],
    ['a column of a workload', (hashes: number[]) => Int32Array.from(hashes)],
  ])('INV-12: has the hashes of the prompt and no others, from %s', (_from, listOf) => {
    const request = placementRequest({
      blockHashes: listOf([9, 1, 2, 3, 9, 9]),
      blockFrom: 1,
      blockCount: 3,
    });
    const seen = promptOnly(placementContext({ engines: idleEngines(1), request })).request;
    expect(Array.from(seen.blockHashes)).toEqual([1, 2, 3]);
    expect(seen).toMatchObject({ blockFrom: 0, blockCount: 3, promptTokens: 1_000 });
    expect(seen.blockHashes).toBe(seen.blockHashes);
  });
});

/** Records the names that are read; an output length is there to be read. */
function watched<T extends object>(row: T, asked: Set<string>): T {
  return new Proxy(
    { ...row, outputTokens: 7 },
    {
      get: (target, name) => {
        asked.add(String(name));
        return Reflect.get(target, name) as unknown;
      },
    },
  );
}

describe('round-robin', () => {
  it('goes round, even when the number of engines changes', () => {
    const policy = build('round-robin');
    const choose = (engineCount: number) =>
      policy.choose(placementContext({ engines: idleEngines(engineCount) }));
    expect([3, 3, 3, 3, 3, 2, 2, 5, 5, 5].map(choose)).toEqual([0, 1, 2, 0, 1, 0, 1, 2, 3, 4]);
  });
});

/** Counts how often each engine is chosen. */
function tally(kind: PolicySpec['kind'], views: readonly EngineView[]): number[] {
  const policy = build(kind);
  const context: PlacementContext = placementContext({ engines: views });
  const chosen = views.map(() => 0);
  for (let i = 0; i < 10_000; i++) chosen[policy.choose(context)]! += 1;
  return chosen;
}

describe('random', () => {
  it('gives every engine its share', () => {
    for (const times of tally('random', idleEngines(5))) {
      expect(times).toBeGreaterThan(1_850);
      expect(times).toBeLessThan(2_150);
    }
  });
});

describe('power-of-two', () => {
  it('never chooses the fullest engine, and the emptiest whenever it is drawn', () => {
    const loads = [5, 1, 9, 3];
    const chosen = tally(
      'power-of-two',
      loads.map((requests, i) => engineView({ engineId: `e${i}`, requests })),
    );
    // Of the 6 pairs the emptiest is in 3, the second in 2 others, the third in 1.
    expect(chosen[2]).toBe(0);
    expect(chosen.map((times) => Math.round((times / 10_000) * 6))).toEqual([1, 3, 0, 2]);
  });

  it('has no other choice than the only engine', () => {
    expect(tally('power-of-two', idleEngines(1))).toEqual([10_000]);
  });
});
