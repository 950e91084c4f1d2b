import { RandomStream } from '@baton/kernel';
import type { PlacerSpec, StagePolicySpec } from '@baton/policies';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { scenarioWith, workloadOf } from '../test/test-scenario';
import { simulate } from './driver';
import { EngineViews } from './engine-views';
import type { ClusterScenario, MembershipChange } from './scenario';

const KINDS = ['least-requests', 'least-tokens', 'session-sticky', 'power-of-two'] as const;
const MOST_CHANGES = 6;

function placementOf(random: RandomStream): PlacerSpec {
  const policy = (): StagePolicySpec => ({ kind: KINDS[random.integer(KINDS.length)]! });
  return {
    prefill: policy(),
    decode: policy(),
    decodeChoice: random.integer(2) === 0 ? 'early' : 'late',
    disaggregationThreshold: random.integer(2) * 6,
  };
}

function changesOf(random: RandomStream, pools: number): MembershipChange[] {
  return Array.from({ length: random.integer(MOST_CHANGES) }, () => {
    const kind = random.integer(2) === 0 ? 'join' : 'leave';
    return { atUs: random.integer(60_000), kind, pool: random.integer(pools) } as const;
  }).sort((a, b) => a.atUs - b.atUs);
}

/** Engines near their limits, so that room, loads and order all matter. */
function scenarioOf(seed: number): ClusterScenario {
  const random = RandomStream.root(seed).stream('engine views');
  const requests = Array.from({ length: 120 }, () => ({
    atUs: random.integer(80_000),
    prompt: 1 + random.integer(60),
    output: 1 + random.integer(20),
    session: random.integer(5),
  })).sort((a, b) => a.atUs - b.atUs);
  const topologies = ['3P5D', '1P1D', '6A', '4P2D3A'];
  const topology = topologies[random.integer(topologies.length)]!;
  const pools = topology.replace(/[^A-Z]/g, '').length;
  return scenarioWith(topology, workloadOf(requests), {
    placement: placementOf(random),
    changes: changesOf(random, pools),
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the engine with the least load', () => {
  it('is the one that a scan finds, in every placement', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const ranked = simulate(scenarioOf(seed));
        vi.spyOn(EngineViews.prototype, 'leastLoaded').mockReturnValue(undefined);
        const scanned = simulate(scenarioOf(seed));
        vi.restoreAllMocks();
        expect(ranked.log).toEqual(scanned.log);
        expect(ranked.itl).toEqual(scanned.itl);
      }),
      { numRuns: runsOf(150) },
    );
  });

  it('is found without reading the others', () => {
    const least = vi.spyOn(EngineViews.prototype, 'leastLoaded');
    const placement: PlacerSpec = {
      prefill: { kind: 'least-tokens' },
      decode: { kind: 'least-requests' },
      decodeChoice: 'late',
      disaggregationThreshold: 0,
    };
    simulate(scenarioWith('2P2D', workloadOf([{}, {}, {}]), { placement }));
    const answers = least.mock.results.map(({ value }) => value as unknown);
    expect(answers).toHaveLength(6);
    expect(answers).not.toContain(undefined);
  });
});
