import type { RunRecord } from '@baton/analysis';
import type { PipelineTimes } from '@baton/step-time';
import { describe, expect, it } from 'vitest';
import { type TestRequest, scenarioWith, workloadOf } from '../test/test-scenario';
import { ClusterRun } from './driver';
import type { ClusterScenario, MembershipChange } from './scenario';

/** Each engine has two ranks; a dummy step takes 1,001 µs. */
function ranked(
  topology: string,
  requests: readonly TestRequest[],
  over: Partial<ClusterScenario> = {},
): ClusterScenario {
  const scenario = scenarioWith(topology, workloadOf(requests), over);
  const dataParallel = { size: 2, isLockstep: true };
  return { ...scenario, pools: scenario.pools.map((pool) => ({ ...pool, dataParallel })) };
}

function run(scenario: ClusterScenario): RunRecord {
  const cluster = new ClusterRun(scenario, {});
  const record = cluster.run();
  cluster.audit();
  return record;
}

describe('ranks in lockstep on the virtual clock', () => {
  it('take as long for a step as the slowest of them', () => {
    const { log, engines } = run(ranked('2A', [{ prompt: 8 }, { prompt: 30 }]));
    expect([...log.prefillEngine]).toEqual([0, 1]);
    // The second prompt takes 1000 + 30 · 10, and then has the longer context.
    expect([...log.firstTokenUs]).toEqual([1_300, 1_300]);
    const decoded = 1_031 + 1_032 + 1_033;
    expect([...log.finishUs]).toEqual([1_300 + decoded, 1_300 + decoded]);
    expect(engines.map(({ steps }) => steps)).toEqual([4, 4]);
  });

  it('begin a request at the common boundary, even on an idle rank', () => {
    const { log } = run(ranked('2A', [{ prompt: 8, output: 2 }, { atUs: 300 }]));
    expect([...log.prefillEngine]).toEqual([0, 1]);
    expect(log.prefillStartUs.at(1)).toBe(1_080);
    expect(log.firstTokenUs.at(1)).toBe(1_080 + 1_080);
    // The decode step of the other rank ended with that prompt.
    expect(log.finishUs.at(0)).toBe(2_160);
  });

  it('make a request wait for the end of a dummy step, until 32 steps are complete', () => {
    const late = 1_080 + 31 * 1_001 + 1;
    const requests = [{ output: 1 }, { atUs: 1_081, output: 1 }];
    const tail = run(ranked('2A', requests)).log;
    expect(tail.prefillStartUs.at(1)).toBe(1_080 + 1_001);
    const rested = run(ranked('2A', [{ output: 1 }, { atUs: late, output: 1 }])).log;
    expect(rested.prefillStartUs.at(1)).toBe(late);
  });

  it('admit fetched KV at the boundary after its arrival', () => {
    const { log } = run(ranked('2P2D', [{}]));
    // Reserved when it came at 1,080; 100 + 8 of transfer; dummy steps from 1,080 on.
    expect(log.transferEndUs.at(0)).toBe(1_188);
    expect(log.firstTokenUs.at(0)).toBe(1_080 + 1_001 + 1_008);
  });

  it('with pipeline stages end the oldest batch together, and stay in its last stage until then', () => {
    const fill: PipelineTimes['fill'] = (b, us) => {
      us[0] = us[2] = 500 + 10 * b.prefillTokens;
      us[1] = 0;
    };
    const scenario = ranked('2A', [
      { prompt: 8, output: 2 },
      { prompt: 30, output: 2 },
    ]);
    const pools = scenario.pools.map((pool) => {
      const stepTime = { ...pool.options.stepTime, pipeline: { stages: 2, fill } };
      return { ...pool, options: { ...pool.options, stepTime } };
    });
    const { log } = run({ ...scenario, pools });
    expect([...log.firstTokenUs]).toEqual([1_600, 1_600]);
    expect([...log.finishUs]).toEqual([2_600, 2_600]);
  });

  it('leave together, from the least busy engine', () => {
    const changes: MembershipChange[] = [{ atUs: 500, kind: 'leave', pool: 0 }];
    const requests = Array.from({ length: 12 }, (_, i) => ({ output: i % 4 < 2 ? 5 : 40 }));
    const placement = {
      ...({ prefill: { kind: 'round-robin' }, decode: 'pull', decodeChoice: 'late' } as const),
      disaggregationThreshold: 0,
    };
    const { engines, endUs } = run(ranked('4A', requests, { changes, placement }));
    expect(engines.map(({ upUs }) => upUs < endUs)).toEqual([true, true, false, false]);
  });
});
