import { summarise } from '@baton/analysis';
import type { KvPoolTerms } from '@baton/kvcache';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClusterRun, simulate } from './driver';
import type { ClusterScenario } from './scenario';
import { type TestRequest, scenarioWith, workloadOf } from '../test/test-scenario';

/** A block of 4 tokens takes 5 µs from the engine's own node; computing one takes 40 µs. */
const hostTier = { blocks: 6, bytesPerSecond: 1e8, bytesPerBlock: 500 };
/** 10 µs from another node, plus 20 µs per node. */
const TERMS: KvPoolTerms = {
  blocks: 6,
  bytesPerBlock: 500,
  bytesPerSecond: 5e7,
  latencyUs: 20,
  balancingThreshold: 1,
  replicas: 0,
};

function pooled(
  topology: string,
  requests: readonly TestRequest[],
  over: Partial<KvPoolTerms> & Pick<Partial<ClusterScenario>, 'leap' | 'changes'> = {},
): ClusterScenario {
  const { leap = true, changes = [], ...terms } = over;
  const options = { hostTier, numBlocks: 12 };
  const scenario = scenarioWith(topology, workloadOf(requests), { options, leap, changes });
  const kvPool = { ...TERMS, ...terms };
  return { ...scenario, pools: scenario.pools.map((pool) => ({ ...pool, kvPool })) };
}

const SAME = { prompt: 14, output: 1, content: [1, 2, 3] };

describe('a cluster with a KV pool', () => {
  it('computes a prefix once, and fetches it on another engine', () => {
    const run = simulate(pooled('2A', [SAME, { ...SAME, atUs: 10_000 }]));
    expect(run.log.firstTokenUs.at(0)).toBe(1000 + 10 * 14);
    expect(run.log.firstTokenUs.at(1)).toBe(10_000 + 1000 + 10 * 2 + 20 + 3 * 10);
    expect([...run.log.cachedTokens]).toEqual([0, 12]);
    expect(summarise(run, { wallSeconds: 1, seed: 1 }).kv_pool).toEqual({
      capacity_blocks: 12,
      hit_tokens_device: 0,
      hit_tokens_host: 0,
      hit_tokens_global: 12,
      fetched_bytes: 1500,
      fetch_seconds: 0.00005,
      declined_fetches: 0,
      stored_blocks: 6,
      evicted_blocks: 0,
    });
  });

  it('lets prefill fetch blocks that decode generated', () => {
    const next = { prompt: 22, output: 1, content: [1, 2, 3, 4, 5] };
    const turn = { prompt: 14, output: 7, content: [1, 2, 3, 4, 5] };
    const { engines } = simulate(pooled('1P1D', [turn, { ...next, atUs: 100_000 }]));
    // The prefill GPUs hold the three blocks of the prompt; the decode GPUs also hold those of the
    // output.
    expect(engines[0]!.kvPool).toMatchObject({ deviceTokens: 12, fetchedTokens: 8 });
  });

  it('loses the blocks of an engine with the engine', () => {
    const later = { ...SAME, atUs: 50_000 };
    const changes = [{ atUs: 10_000, kind: 'leave' as const, pool: 0 }];
    const { log } = simulate(pooled('2A', [SAME, later], { changes }));
    expect([...log.cachedTokens]).toEqual([0, 0]);
  });

  it('leaves no field in a result without one', () => {
    const run = simulate(scenarioWith('1A', workloadOf([SAME])));
    expect(summarise(run, { wallSeconds: 1, seed: 1 })).not.toHaveProperty('kv_pool');
  });
});

const requests = fc.array(
  fc.record({
    atUs: fc.nat({ max: 20_000 }),
    prompt: fc.integer({ min: 1, max: 24 }),
    output: fc.integer({ min: 1, max: 12 }),
    family: fc.nat({ max: 2 }),
  }),
  { minLength: 1, maxLength: 25 },
);

/** Contents are chained: block i of a family has one name. */
function asked(all: readonly { atUs: number; prompt: number; output: number; family: number }[]) {
  return all.map(({ family, ...rest }) => ({
    ...rest,
    content: Array.from(
      { length: Math.floor((rest.prompt + rest.output) / 4) },
      (_, i) => 10 * family + i + 1,
    ),
  }));
}

describe('a cluster with a KV pool under random requests', () => {
  const topology = fc.constantFrom('2A', '3A', '2P1D');
  const terms = fc.record({
    replicas: fc.nat({ max: 2 }),
    latencyUs: fc.constantFrom(0, 20, 100),
    balancingThreshold: fc.constantFrom(1, 2),
  });

  it('gives the same result with leaps and single steps, and when repeated', () => {
    fc.assert(
      fc.property(topology, requests, terms, (name, all, given) => {
        const told = [true, true, false].map((leap) => {
          const run = simulate(pooled(name, asked(all), { ...given, leap }));
          const { firstTokenUs, finishUs, cachedTokens } = run.log;
          const columns = [firstTokenUs, finishUs, cachedTokens].map((column) =>
            [...column].join(),
          );
          return JSON.stringify([columns, run.engines.map(({ kvPool }) => kvPool)]);
        });
        expect(told[1]).toBe(told[0]);
        expect(told[2]).toBe(told[0]);
      }),
      { numRuns: 25 },
    );
  });

  it('counts each prompt token once, and loses no block', () => {
    fc.assert(
      fc.property(topology, requests, terms, (name, all, given) => {
        const run = new ClusterRun(pooled(name, asked(all), given), {});
        const { engines } = run.run();
        run.audit();
        for (const { kvPool, promptTokensCached } of engines) {
          const { deviceTokens, hostTokens, fetchedTokens, storedBlocks } = kvPool!;
          expect(deviceTokens + hostTokens + fetchedTokens).toBe(promptTokensCached);
          expect(deviceTokens).toBeGreaterThanOrEqual(0);
          expect(storedBlocks - kvPool!.evictedBlocks).toBeLessThanOrEqual(TERMS.blocks);
          expect(fetchedTokens).toBeLessThanOrEqual((kvPool!.fetchedBytes / 500) * 4);
        }
      }),
      { numRuns: 25 },
    );
  });
});
