import { parseSlo } from '@baton/analysis';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { WHOLE, type Workload, WorkloadBuilder } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { perform } from '../search/perform';
import { whyLost } from '../document/why-lost';
import type { Assumption } from './assumption';
import { CAUSES, type RunProfile } from './run-profile';

interface Load {
  readonly requests: number;
  readonly rate: number;
  readonly prompt: number;
  readonly output: number;
}

function workloadOf({ requests, rate, prompt, output }: Load): Workload {
  const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
  for (let i = 0; i < requests; i++) {
    builder.add({ arrivalUs: (i * 1e6) / rate, promptTokens: prompt, outputTokens: output });
  }
  return builder.build();
}

/** The profile of a cluster at a load. */
function profileOf(
  cluster: Partial<BatonConfig>,
  load: Load,
  { slo, assumption }: { readonly slo: string; readonly assumption?: Assumption },
): RunProfile {
  const target = { slo: parseSlo(slo), attainment: 0.9 };
  const context = { config: defaultConfig(), workload: workloadOf(load), target };
  const task = { kind: 'explain' as const, cluster, piece: WHOLE, tolerance: 0.02, assumption };
  return perform(context, { ...task, rate: load.rate, idleRate: load.rate / 1_000 }).profile!;
}

function mainCause({ causes }: RunProfile): string {
  const [main] = [...CAUSES].sort((a, b) => causes[b] - causes[a]);
  expect(CAUSES.reduce((sum, cause) => sum + causes[cause], 0)).toBeCloseTo(1, 6);
  return main!;
}

const SHORT: Load = { requests: 200, rate: 20, prompt: 200, output: 50 };

describe('the cause of a miss', () => {
  it('is the queue of a prefill engine that is always busy', () => {
    const load = { requests: 200, rate: 40, prompt: 4_000, output: 10 };
    const profile = profileOf({ topology: '1P3D' }, load, { slo: 'ttft=500ms' });
    expect(mainCause(profile)).toBe('queue');
    const [prefill, decode] = profile.roles;
    expect(prefill!.inSteps).toBeGreaterThan(0.9);
    expect(prefill!.inPromptSteps).toBe(prefill!.inSteps);
    expect(decode!.inPromptSteps).toBe(0);
    expect(profile.missedBy).toEqual({ ttft: profile.missed });
    const meanOf = (phases: RunProfile['phases']): number => {
      return phases.find(({ phase }) => phase === 'queue')!.meanMs;
    };
    expect(meanOf(profile.phases)).toBeGreaterThan(100 * meanOf(profile.idlePhases) + 100);
  });

  it('is the budget where prompts fill the steps of decodes', () => {
    const load = { requests: 200, rate: 12, prompt: 4_000, output: 100 };
    const profile = profileOf({ topology: '1A' }, load, { slo: 'tpot=15ms' });
    expect(mainCause(profile)).toBe('budget');
    expect(profile.missedBy.tpot).toBeGreaterThan(20);
  });

  it('is the budget where max_num_seqs is reached', () => {
    const cluster = { topology: '1P1D', decodeMaxNumSeqs: 1 };
    const profile = profileOf(cluster, SHORT, { slo: 'ttft=500ms' });
    expect(mainCause(profile)).toBe('budget');
    expect(profile.roles[1]!.batchFull).toBeGreaterThan(0.9);
  });

  it('is the KV cache where decode has too few blocks', () => {
    const cluster = { topology: '1P1D', decodeNumGpuBlocksOverride: 20 };
    const profile = profileOf(cluster, SHORT, { slo: 'ttft=500ms' });
    expect(mainCause(profile)).toBe('kv');
  });

  it('is the transfer over a slow link', () => {
    const assumption = { name: 'slow', linkFactor: 1e-3 };
    const profile = profileOf({ topology: '1P3D' }, SHORT, { slo: 'ttft=200ms', assumption });
    expect(mainCause(profile)).toBe('transfer');
  });

  it('is the decode steps where not even one sequence is fast enough', () => {
    const profile = profileOf({ topology: '3P1D' }, SHORT, { slo: 'tpot=2ms' });
    expect(mainCause(profile)).toBe('decode');
    expect(profile.missed).toBe(profile.requests);
  });

  it('is the prompt itself where an idle engine is too slow for it', () => {
    const load = { requests: 20, rate: 0.1, prompt: 16_000, output: 5 };
    const profile = profileOf({ topology: '1P1D' }, load, { slo: 'ttft=100ms' });
    expect(mainCause(profile)).toBe('prefill');
  });

  it('is none where nothing is missed', () => {
    const profile = profileOf({ topology: '1P1D' }, { ...SHORT, rate: 1 }, { slo: 'ttft=10s' });
    expect([profile.missed, ...CAUSES.map((cause) => profile.causes[cause])]).toEqual(
      [0, ...CAUSES].map(() => 0),
    );
  });
});

describe('why a split lost', () => {
  it('names what is missed, the cause and what would mend it', () => {
    const load = { requests: 200, rate: 40, prompt: 4_000, output: 10 };
    const slo = 'ttft=500ms,tpot=50ms';
    const own = profileOf({ topology: '1P3D' }, load, { slo });
    const best = profileOf({ topology: '3P1D' }, load, { slo });
    const defeat = { name: '1P3D', isAggregated: false, winner: '3P1D', rate: 40, own, best };
    const [misses, cause, mend] = whyLost(defeat);
    expect(misses).toMatch(/^at 40 requests\/s it misses the SLO in \d.*TTFT in .*, 3P1D in /);
    expect(cause).toMatch(/^The cause is the queue: requests wait .* the prefill engine is /);
    expect(mend).toContain('More prefill engines');
  });
});
