import { RandomStream } from '@baton/kernel';
import type { EngineAdapters, Policy } from '@baton/policies';
import { rowName, withAdapterContents, withMix, type Workload } from '@baton/workload';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scenarioWith, workloadOf } from '../test/test-scenario';
import { simulate } from './driver';
import type { ClusterScenario } from './scenario';

const SHARES = ['a', 'b', 'c', 'base'].map((name) => ({ name, part: 1 }));

function withAdapters(workload: Workload, seed: number): Workload {
  const random = RandomStream.root(seed);
  return withAdapterContents(withMix(workload, 'adapter', { shares: SHARES, random }));
}

/** Half of the requests share their prompt. */
function requests(count: number, everyUs: number): Workload {
  return workloadOf(
    Array.from({ length: count }, (_, i) => ({
      atUs: i * everyUs,
      prompt: 12,
      output: 1 + (i % 9),
      content: i % 2 === 0 ? [1, 2] : [],
    })),
  );
}

function placedBy(choose: Policy['choose']): ClusterScenario['placement'] {
  const own = { kind: 'own', path: './lora.mjs', module: { create: () => ({ choose }) } } as const;
  const rest = { decodeChoice: 'late', disaggregationThreshold: 0 } as const;
  return { prefill: own, decode: own, ...rest };
}

describe('LoRA adapters on the virtual clock', () => {
  it('shows policies the adapter of a request, and those of each engine', () => {
    const workload = withAdapters(requests(60, 700), 1);
    const asked: (string | undefined)[] = [];
    const seen: EngineAdapters[] = [];
    const placement = placedBy(({ engines, request }) => {
      asked.push(request.adapter);
      seen.push(engines[1]!.adapters!);
      return 1;
    });
    simulate(scenarioWith('2A', workload, { placement, options: { maxAdapters: 2 } }));
    expect(asked).toEqual(asked.map((_, row) => rowName(workload.adapter, row)));
    expect(seen[0]).toEqual({ running: [], waiting: [], most: 2 });
    expect(new Set(seen.flatMap(({ running }) => running))).toEqual(new Set(['a', 'b', 'c']));
    expect(seen.some(({ waiting }) => waiting.length > 0)).toBe(true);
    for (const { running, waiting } of seen) {
      expect(waiting.filter((name) => running.includes(name))).toEqual([]);
    }
  });

  it('keeps prefixes of adapters apart', () => {
    const workload = requests(40, 5_000);
    const cached = (of: Workload): number =>
      simulate(scenarioWith('1A', of)).log.cachedTokens.reduce((sum, each) => sum + each, 0);
    // Only the first of each adapter computes the shared prompt.
    expect(cached(workload) - cached(withAdapters(workload, 1))).toBe(3 * 8);
  });

  it('gives the same times with leaps as in single steps', () => {
    const some = fc.record({
      seed: fc.nat(),
      everyUs: fc.integer({ min: 0, max: 3_000 }),
      maxAdapters: fc.integer({ min: 1, max: 3 }),
      topology: fc.constantFrom('1A', '2A', '1P1D', '2P2D'),
    });
    fc.assert(
      fc.property(some, ({ seed, everyUs, maxAdapters, topology }) => {
        const workload = withAdapters(requests(30, everyUs), seed);
        const ends = (leap: boolean): number[] => [
          ...simulate(scenarioWith(topology, workload, { leap, options: { maxAdapters } })).log
            .finishUs,
        ];
        expect(ends(true)).toEqual(ends(false));
      }),
      { numRuns: 60 },
    );
  });

  it('needs fewer changes of adapter where a policy keeps an adapter on one engine', () => {
    const workload = withAdapters(requests(200, 400), 4);
    const meanTtft = (choose: Policy['choose']): number => {
      const scenario = scenarioWith('3A', workload, {
        placement: placedBy(choose),
        options: { maxAdapters: 1 },
      });
      const { finishUs, arrivalUs } = simulate(scenario).log;
      return (
        [...finishUs].reduce((sum, us, row) => sum + us - arrivalUs.at(row), 0) / workload.count
      );
    };
    let turn = 0;
    const inTurns = meanTtft(({ engines }) => turn++ % engines.length);
    const byAdapter = meanTtft(({ request }) => ['a', 'b', 'c'].indexOf(request.adapter ?? 'a'));
    expect(byAdapter).toBeLessThan(inTurns);
  });
});
