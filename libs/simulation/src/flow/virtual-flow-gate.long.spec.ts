import { type RequestLog, outcomeCode } from '@baton/analysis';
import { type SloClass, SloClasses } from '@baton/policies';
import { RandomStream } from '@baton/kernel';
import { WorkloadBuilder } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { scenarioWith } from '../../test/test-scenario';
import { simulate } from '../driver';
import { rowClasses } from './row-classes';
import type { ClusterFlowControl, ClusterScenario } from '../scenario';

const SECOND = 1_000_000;
const URGENT: SloClass = { name: 'urgent', priority: 1, weight: 4, ttftUs: 20_000 };
const CALM: SloClass = { name: 'calm', priority: 2, weight: 1 };
const CLASSES = new SloClasses([URGENT, CALM], CALM);
const LIMITS = { perFlow: 1_000, total: 1_000, timeoutUs: 100 * SECOND };
const OPEN: ClusterFlowControl = { policy: 'fcfs', limits: LIMITS, concurrency: 1_000 };

/** More requests of two classes, at random instants, than the engines can serve at once. */
function overload(seed: number, topology = '1A'): ClusterScenario {
  const random = RandomStream.root(seed);
  const builder = new WorkloadBuilder({ contentBlockTokens: 4 });
  for (let i = 0; i < 120; i++) {
    builder.add({
      arrivalUs: i * 1_000 + random.integer(1_000),
      promptTokens: 1 + random.integer(60),
      outputTokens: 1 + random.integer(20),
      sloClass: random.unit() < 0.5 ? 'urgent' : 'calm',
      tenant: `t${random.integer(3)}`,
    });
  }
  return scenarioWith(topology, builder.build(), { seed });
}

function withClasses(scenario: ClusterScenario): ClusterScenario {
  const sloClasses = rowClasses(scenario.workload, CLASSES);
  if (typeof sloClasses === 'string') throw new Error(sloClasses);
  return { ...scenario, sloClasses };
}

function meanTtftUs(log: RequestLog, { sloClasses }: ClusterScenario, wanted: SloClass): number {
  const rows = Array.from({ length: log.count }, (_, row) => row).filter(
    (row) => sloClasses!.of(row) === wanted && log.firstTokenUs.at(row) >= 0,
  );
  const sum = rows.reduce(
    (total, row) => total + log.firstTokenUs.at(row) - log.arrivalUs.at(row),
    0,
  );
  return sum / rows.length;
}

describe('flow control on the virtual clock', () => {
  it.each(['1A', '2A', '1P1D', '2P2D1A'])(
    '%s: first come first served behind an open gate is no flow control',
    (topology) => {
      for (const seed of [1, 2, 3]) {
        const plain = overload(seed, topology);
        const without = simulate(plain);
        const held = simulate({ ...plain, flowControl: OPEN });
        expect({ seed, us: [...held.log.finishUs] }).toEqual({
          seed,
          us: [...without.log.finishUs],
        });
        expect([...held.log.firstTokenUs]).toEqual([...without.log.firstTokenUs]);
        expect([...held.log.passedUs!]).toEqual([...held.log.arrivalUs]);
      }
    },
  );

  it.each(['fcfs', 'priority', 'wfq', 'edf'] as const)(
    '%s: every request ends, and the gate limits those under way',
    (policy) => {
      for (const seed of [1, 2, 3, 4, 5]) {
        const scenario = withClasses(overload(seed, '1P1D'));
        const flowControl = { policy, limits: LIMITS, concurrency: 3 };
        const { log } = simulate({ ...scenario, flowControl });
        expect({
          seed,
          left: [...log.outcome].filter((each) => each !== outcomeCode('completed')),
        }).toEqual({ seed, left: [] });
        const moves = [...log.passedUs!].flatMap((us, row) => [
          { us, by: 1 },
          { us: log.finishUs.at(row), by: -1 },
        ]);
        let underWay = 0;
        for (const { by } of moves.sort((a, b) => a.us - b.us || a.by - b.by)) {
          underWay += by;
          expect(underWay).toBeLessThanOrEqual(3);
        }
      }
    },
  );

  it('serves the higher class sooner under priority, and by weight under wfq', () => {
    const ratios = (['fcfs', 'wfq', 'priority'] as const).map((policy) => {
      const scenario = withClasses(overload(7));
      const flowControl = { policy, limits: LIMITS, concurrency: 2 };
      const { log } = simulate({ ...scenario, flowControl });
      return meanTtftUs(log, scenario, CALM) / meanTtftUs(log, scenario, URGENT);
    });
    expect(ratios[0]).toBeGreaterThan(0.7);
    expect(ratios[0]).toBeLessThan(1.4);
    expect(ratios[1]).toBeGreaterThan(1.5);
    expect(ratios[2]).toBeGreaterThan(ratios[1]!);
  });

  it('rejects requests that find no place or wait too long, the lower class first', () => {
    const scenario = withClasses(overload(3));
    const limits = { perFlow: 8, total: 10, timeoutUs: SECOND };
    const flowControl = { policy: 'priority', limits, concurrency: 1 } as const;
    const { log } = simulate({ ...scenario, flowControl });
    const rejected = (wanted: SloClass): number =>
      [...log.outcome].filter((outcome, row) => {
        return outcome === outcomeCode('rejected') && scenario.sloClasses!.of(row) === wanted;
      }).length;
    expect(rejected(CALM)).toBeGreaterThan(rejected(URGENT));
  });

  it('refuses requests whose predicted TTFT, wait included, misses the target of their class', () => {
    const scenario = withClasses(overload(5));
    const flowControl = { policy: 'fcfs', limits: LIMITS, concurrency: 2 } as const;
    const admission = { kind: 'slo-ttft', sloUs: Infinity } as const;
    const { log } = simulate({ ...scenario, flowControl, admission });
    let refused = 0;
    for (let row = 0; row < log.count; row++) {
      const isRefused = log.outcome[row] === outcomeCode('rejected');
      if (isRefused) refused += 1;
      if (isRefused) expect(scenario.sloClasses!.of(row)).toBe(URGENT);
      else expect(log.outcome[row]).toBe(outcomeCode('completed'));
    }
    expect(refused).toBeGreaterThan(10);
  });

  it('gives engines the priority of the class when the row has none', () => {
    const scenario = withClasses(overload(2));
    const pools = scenario.pools.map((pool) => ({
      ...pool,
      options: { ...pool.options, schedulingPolicy: 'priority' as const },
    }));
    const ranked = simulate({ ...scenario, pools });
    const plain = simulate({ ...overload(2), pools });
    const ttft = (run: typeof ranked): number => meanTtftUs(run.log, scenario, URGENT);
    expect(ttft(ranked)).toBeLessThan(ttft(plain));
  });
});
