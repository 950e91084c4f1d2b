import { defaultConfig } from '@baton/config';
import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { gpusOf, overridesOf } from './fleet';
import { FleetEngines } from './fleet-engines';
import { type FleetSpace, readFleetSpace } from './fleet-space';
import { sizeFleets } from './size-fleets';

const LENGTHS = { min: 1, p50: 1, p90: 1, p99: 1, max: 1 };
const DESCRIPTION = {
  promptTokens: { mean: 2_000, ...LENGTHS },
  outputTokens: { mean: 200, ...LENGTHS },
  reusableShare: 0.2,
};

function fleetsOf(space: FleetSpace, rps: number) {
  const engines = new FleetEngines({
    config: defaultConfig(),
    space,
    prices: new Map(),
    tpotUs: 50e3,
    description: DESCRIPTION as never,
  });
  return { fleets: sizeFleets(space, engines, [{ name: 'load', rps }]), engines };
}

describe('the fleets of a space', () => {
  it('never exceed the available GPUs or the budget', () => {
    const seed = 7;
    const random = RandomStream.root(seed).stream('spaces');
    for (let run = 0; run < 12; run++) {
      const stock = { h100: 1 + random.integer(24), a100: 1 + random.integer(24) };
      const budget = 10 + random.integer(150);
      const space = readFleetSpace(
        { gpus: stock, tensor_parallel_size: [1, 2], budget_usd_per_hour: budget },
        'test',
      );
      const { fleets } = fleetsOf(space, 1 + random.integer(60));
      for (const fleet of fleets) {
        expect(fleet.usdPerHour, `seed ${seed}, run ${run}`).toBeLessThanOrEqual(budget);
        for (const [gpu, count] of gpusOf(fleet.pools)) {
          expect(count).toBeLessThanOrEqual(space.gpus.get(gpu)!);
        }
      }
    }
  });

  it('have pools of different GPUs, aggregated engines, and mixes of the three roles', () => {
    const space = readFleetSpace(
      { gpus: { h100: 32, a100: 32 }, tensor_parallel_size: [1] },
      'test',
    );
    const { fleets } = fleetsOf(space, 40);
    expect(new Set(fleets.map(({ kind }) => kind))).toEqual(
      new Set(['disaggregated', 'aggregated', 'mixed']),
    );
    const apart = fleets.find(({ pools }) => pools[0]!.engine.gpu !== pools[1]?.engine.gpu)!;
    expect(overridesOf(apart)).toMatchObject({
      prefillGpu: apart.pools[0]!.engine.gpu,
      decodeGpu: apart.pools[1]!.engine.gpu,
    });
    expect(overridesOf(fleets.find(({ kind }) => kind === 'mixed')!).topology).toMatch(
      /^\d+P\d+D1A$/,
    );
  });

  it('are no larger than their load needs', () => {
    const space = readFleetSpace({ gpus: { h100: 64 }, tensor_parallel_size: [1] }, 'test');
    for (const { group, pools } of fleetsOf(space, 30).fleets) {
      if (group !== 'load' || pools.length !== 1) continue;
      const [{ engine, count }] = pools as [(typeof pools)[number]];
      expect(engine.rateOf(count)).toBeGreaterThanOrEqual(30);
      expect(engine.rateOf(count - 1)).toBeLessThan(30);
    }
  });

  it('leave out engines that cannot be built, with one note on all and each with its reason', () => {
    const space = readFleetSpace({ gpus: { l4: 8 }, tensor_parallel_size: [1, 3] }, 'test');
    const engines = new FleetEngines({
      config: defaultConfig({ model: 'llama-3.1-70b' }),
      space,
      prices: new Map(),
      tpotUs: 50e3,
      description: DESCRIPTION as never,
    });
    expect(sizeFleets(space, engines, [{ name: 'load', rps: 1 }])).toEqual([]);
    expect(engines.note).toBe(
      '6 of 6 kinds of engine are left out: the model does not fit (3), the heads cannot be ' +
        'spread so (3). --json lists each.',
    );
    expect(engines.leftOut[0]).toMatchObject({
      role: 'decode',
      options: { decode_gpu: 'l4', decode_tensor_parallel_size: 1 },
      reason: 'the model does not fit',
      why: expect.stringContaining('llama-3.1-70b'),
    });
  });
});
