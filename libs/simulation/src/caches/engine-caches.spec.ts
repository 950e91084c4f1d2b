import type { RunRecord } from '@baton/analysis';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TestRequest, scenarioWith, workloadOf } from '../../test/test-scenario';
import { simulate } from '../driver';
import type { EngineCache } from './engine-caches';
import type { ClusterScenario } from '../scenario';

/** Long after the end of all earlier requests. */
const LATER_US = 10_000_000;

/** A prompt of blocks of 4 tokens, on a path down a tree. */
const asked = (atUs: number, path: readonly number[]): TestRequest => ({
  atUs,
  prompt: 4 * path.length + 1,
  output: 3,
  content: path.map((_, depth) => Number(`1${path.slice(0, depth + 1).join('')}`)),
});

/** Prompts of up to 4 blocks, on paths down a tree of 3 branches. */
const requests: fc.Arbitrary<TestRequest[]> = fc.array(
  fc
    .record({ atUs: fc.nat(50_000), path: fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }) })
    .map(({ atUs, path }) => asked(atUs, path)),
  { minLength: 1, maxLength: 25 },
);

/** Under `fifo`, blocks that were skipped while in use are free at the end of the run. */
const PASSED_OVER = [
  ...[asked(0, [0]), asked(2012, [0]), asked(3069, [1, 0]), asked(3070, [0, 1, 0])],
  ...[asked(4075, [2, 0, 0]), asked(4075, [0, 0, 0, 0]), asked(4075, [1, 0, 0, 0])],
  asked(4075, [0]),
];

function scenarioFor(
  asked: readonly TestRequest[],
  topology = '1A',
  evictionPolicy?: 'lru' | 'fifo',
) {
  const options = { numBlocks: 16, ...(evictionPolicy && { evictionPolicy }) };
  return scenarioWith(topology, workloadOf(asked), { options });
}

function runOf(scenario: ClusterScenario): { run: RunRecord; caches: readonly EngineCache[] } {
  let caches: readonly EngineCache[] = [];
  const run = simulate(scenario, { onCaches: (found) => (caches = found) });
  return { run, caches };
}

/** Contents are numbered by first appearance, so equal requests give equal numbers. */
function warmed(scenario: ClusterScenario, caches: readonly EngineCache[]): ClusterScenario {
  const pools = scenario.pools.map((pool) => ({
    ...pool,
    warmCaches: caches.filter(({ role }) => role === pool.role),
  }));
  return { ...scenario, pools };
}

const hitsOf = ({ log }: RunRecord): number[] =>
  Array.from(log.cachedTokens.subarray(0, log.count));

describe.each(['lru', 'fifo'] as const)(
  'an engine that begins with its own cache (%s)',
  (policy) => {
    it('gives each request the same hits as an engine that has just served the same requests', () => {
      fc.assert(
        fc.property(requests, (given) => {
          const once = [...given].sort((a, b) => a.atUs! - b.atUs!);
          const again = once.map((each) => ({ ...each, atUs: each.atUs! + LATER_US }));
          const twice = simulate(scenarioFor([...once, ...again], '1A', policy));
          const cold = runOf(scenarioFor(once, '1A', policy));
          const warm = simulate(warmed(scenarioFor(once, '1A', policy), cold.caches));
          expect(hitsOf(cold.run)).toEqual(hitsOf(twice).slice(0, once.length));
          expect(hitsOf(warm)).toEqual(hitsOf(twice).slice(once.length));
        }),
        { examples: [[PASSED_OVER]] },
      );
    });
  },
);

describe('the caches of a cluster', () => {
  const twelve = Array.from({ length: 12 }, (_, i) => ({
    atUs: i * 7_000,
    prompt: 9,
    content: [1, 2 + (i % 4)],
  }));

  it('are those of every ready engine, by role and place', () => {
    const { caches } = runOf(scenarioFor(twelve, '2P1D'));
    expect(caches.map(({ role, place }) => `${role} ${place}`)).toEqual([
      ...['prefill 0', 'prefill 1', 'decode 0'],
    ]);
    for (const { freeOrder } of caches) expect(freeOrder).toHaveLength(16);
    expect(caches.every(({ freeOrder }) => freeOrder.includes(1))).toBe(true);
  });

  it('do not change a run when they are empty', () => {
    const scenario = scenarioFor(twelve, '2P1D');
    const { caches } = runOf(scenario);
    const empty = caches.map((each) => ({ ...each, freeOrder: [], freeGroups: [] }));
    expect(simulate(warmed(scenario, empty))).toEqual(simulate(scenario));
  });
});
