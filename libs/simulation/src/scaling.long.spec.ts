import type { LifeState } from '@baton/analysis';
import {
  Autoscaler,
  buildAutoscaler,
  parseAutoscaler,
  parseBounds,
  parseTopology,
} from '@baton/policies';
import { RandomStream } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { poolFor, scenarioWith, workloadOf, type TestRequest } from '../test/test-scenario';
import { ClusterRun } from './driver';
import type { ClusterScenario } from './scenario';

interface Written {
  readonly autoscaler: string;
  readonly start: string;
  readonly min: string;
  readonly max: string;
  readonly intervalUs?: number;
  readonly startupUs?: number;
}

function scaled(requests: readonly TestRequest[], written: Written, seed = 1): ClusterScenario {
  const { start, max, min, intervalUs = 50_000, startupUs = 30_000 } = written;
  const bounds = parseBounds(min, max);
  const scenario = scenarioWith(start, workloadOf(requests), { seed });
  const topology = parseTopology(start);
  return {
    ...scenario,
    pools: (['prefill', 'decode', 'aggregated'] as const)
      .filter((role) => bounds.max[role] > 0)
      .map((role) => ({ ...poolFor(role, topology[role]), startupUs })),
    scaling: {
      create: () => {
        const random = RandomStream.root(seed).stream('autoscaler');
        const policy = buildAutoscaler(parseAutoscaler(written.autoscaler), {
          capacities: {},
          random,
        });
        return new Autoscaler({ policy, bounds, metricsAgeUs: 0 });
      },
      intervalUs,
      most: bounds.max,
    },
  };
}

function run(scenario: ClusterScenario) {
  const cluster = new ClusterRun(scenario, {});
  const record = cluster.run();
  cluster.audit();
  return record;
}

const BURST: TestRequest[] = Array.from({ length: 60 }, (_none, i) => ({
  atUs: i * 5_000,
  prompt: 40,
  output: 30,
}));

describe('an autoscaler on the virtual clock', () => {
  it('starts engines when requests wait, and removes them afterwards', () => {
    const requests = [...BURST, { atUs: 3_000_000, prompt: 8, output: 4 }];
    const written = { start: '1A', min: '1A', max: '4A' };
    const { scaling, log } = run(
      scaled(requests, { ...written, autoscaler: 'hpa:waiting=2:down-window=200ms' }),
    );
    const kinds = new Set(scaling?.events.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['join', 'leave']));
    expect([...log.finishUs].every((us) => us > 0)).toBe(true);
  });

  it('loads an engine for its startup time before it takes work', () => {
    const written = { autoscaler: 'hpa:waiting=2', start: '1A', min: '1A', max: '2A' };
    const { lives } = run(scaled(BURST, written));
    const [starting, ready] = lives.filter(({ engine }) => engine === 1);
    expect([starting?.state, ready?.state]).toEqual(['starting', 'ready']);
    expect(ready!.atUs - starting!.atUs).toBe(30_000);
  });

  it('loads weights from a peer where its pool has a ready engine, and records each cause', () => {
    const written = { autoscaler: 'hpa:waiting=2', start: '1A', min: '1A', max: '2A' };
    const scenario = scaled(BURST, written);
    const warmUp = { cause: 'warm-up', us: 10_000 };
    const startup = {
      alone: [{ cause: 'weights', us: 90_000 }, warmUp],
      besidePeer: [{ cause: 'weights-from-peer', us: 5_000 }, warmUp],
    };
    const { lives, scaling } = run({
      ...scenario,
      pools: scenario.pools.map((pool) => ({ ...pool, startup })),
    });
    const [starting, ready] = lives.filter(({ engine }) => engine === 1);
    expect(ready!.atUs - starting!.atUs).toBe(15_000);
    expect(scaling?.startups[0]).toMatchObject({
      atUs: starting!.atUs,
      phases: startup.besidePeer,
    });
  });

  it('ends when all requests have ended', () => {
    const written = { autoscaler: 'hpa:waiting=2', start: '1A', min: '1A', max: '2A' };
    const { endUs, log } = run(scaled([{ atUs: 0 }], written));
    expect(endUs).toBe(log.finishUs.at(0));
  });

  it('gives a returning engine an empty cache', () => {
    const content = [1, 2, 3, 4];
    // The first engine computes the first prompt, leaves at 50 ms and is back at 130 ms.
    const requests = [0, 140_000, 140_000].map((atUs) => {
      return { atUs, prompt: 17, output: 2, content };
    });
    const counts = 'schedule:0s=2A+0.05s=1A+0.1s=2A:period=10s';
    const written = { autoscaler: counts, start: '2A', min: '1A', max: '2A' };
    const { log } = run(scaled(requests, written));
    expect([...log.prefillEngine]).toEqual([0, expect.any(Number), expect.any(Number)]);
    expect(new Set(log.prefillEngine.slice(1))).toEqual(new Set([0, 1]));
    expect([...log.cachedTokens]).toEqual([0, 0, 0]);
  });

  it('gives an engine that comes back the cache of another one where it fetches it', () => {
    // Both engines compute the prompt; one leaves at 50 ms and is back at 130 ms.
    const requests = [0, 0, 140_000, 140_000].map((atUs) => {
      return { atUs, prompt: 17, output: 2, content: [1, 2, 3, 4] };
    });
    const counts = 'schedule:0s=2A+0.05s=1A+0.1s=2A:period=10s';
    const cold = scaled(requests, { autoscaler: counts, start: '2A', min: '1A', max: '2A' });
    const foundOf = (scenario: ClusterScenario): number[] =>
      [...run(scenario).log.cachedTokens.slice(2)].sort((a, b) => a - b);
    expect(foundOf(cold)).toEqual([0, 16]);
    expect(foundOf({ ...cold, fetchesCaches: true })).toEqual([16, 16]);
  });
});

const asked = fc.record({
  atUs: fc.integer({ min: 0, max: 2_000_000 }),
  prompt: fc.integer({ min: 1, max: 100 }),
  output: fc.integer({ min: 1, max: 60 }),
});
const workloads = fc
  .array(asked, { minLength: 1, maxLength: 80 })
  .map((some) => [...some].sort((a, b) => a.atUs - b.atUs));

describe('INV-1: a cluster that scales at random', () => {
  const written = { autoscaler: 'random', start: '2P2D', min: '1P1D', max: '4P5D' };
  const both = { ...written, intervalUs: 20_000 };

  it('loses no request, keeps its bounds, and gives the same bytes with the same seed', () => {
    fc.assert(
      fc.property(workloads, fc.integer({ min: 0, max: 1e6 }), (requests, seed) => {
        const scenario = scaled(requests, both, seed);
        const record = run(scenario);
        expect([...record.log.outcome].every((code) => code === record.log.outcome[0])).toBe(true);
        expect([...record.log.finishUs].every((us) => us >= 0)).toBe(true);
        const present = { prefill: 2, decode: 2, aggregated: 0 };
        for (const { role, state } of record.lives) {
          present[role] += change(state);
          expect(present[role]).toBeLessThanOrEqual(scenario.scaling!.most[role]);
          expect(present[role]).toBeGreaterThanOrEqual(0);
        }
        expect(run(scenario)).toEqual(record);
      }),
      { numRuns: runsOf(60) },
    );
  });

  it.each([true, false])(
    'moves all ranks of an engine together (in lockstep: %s)',
    (isLockstep) => {
      const dataParallel = { size: 2, isLockstep };
      fc.assert(
        fc.property(workloads, fc.integer({ min: 0, max: 1e6 }), (requests, seed) => {
          const single = scaled(requests, both, seed);
          const pools = single.pools.map((pool) => ({
            ...pool,
            count: 2 * pool.count,
            dataParallel,
          }));
          const { lives, log } = run({ ...single, pools });
          expect([...log.finishUs].every((us) => us >= 0)).toBe(true);
          const ofRank = (rank: number): unknown[] =>
            lives
              .filter(({ engine }) => engine % 2 === rank)
              .map(({ engine, ...life }) => ({ ...life, engine: Math.floor(engine / 2) }));
          expect(ofRank(0)).toEqual(ofRank(1));
        }),
        { numRuns: runsOf(40) },
      );
    },
  );

  it('starts no engine in place of one that drains to change its role', () => {
    const requests = [
      { atUs: 0, prompt: 1, output: 1 },
      { atUs: 1_660_875, prompt: 57, output: 53 },
      { atUs: 1_694_857, prompt: 64, output: 40 },
    ];
    const { lives } = run(scaled(requests, both, 987_620));
    const decodes = lives.filter(({ role }) => role === 'decode');
    let present = 2;
    const counts = decodes.map(({ state }) => (present += change(state)));
    expect(Math.max(...counts)).toBe(5);
  });

  it.each([
    'hpa:itl=3ms:down-window=0',
    'hpa:ttft=20ms+kv=0.3:down-window=100ms',
    'wva',
    'wva-tokens',
  ])('decides the same with leaps and without (%s)', (autoscaler) => {
    fc.assert(
      fc.property(workloads, fc.integer({ min: 0, max: 1e6 }), (requests, seed) => {
        const scenario = scaled(requests, { ...both, autoscaler }, seed);
        const leaping = run(scenario);
        const single = run({ ...scenario, leap: false });
        expect(leaping.scaling).toEqual(single.scaling);
        expect(leaping.log).toEqual(single.log);
      }),
      { numRuns: runsOf(30) },
    );
  });
});

/** Initial engines are ready from the start without a state change. */
function change(state: LifeState): number {
  if (state === 'starting') return 1;
  return state === 'gone' ? -1 : 0;
}
