import { simulate } from '../driver';
import { type BatonConfig, configuredChanges, defaultConfig, UsageError } from '@baton/config';
import { parseChanges } from '@baton/policies';
import { WorkloadBuilder } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { membershipChanges, mostGpus } from './membership-changes';
import { scenarioOf } from './scenario-of';

const SECOND = 1_000_000;
const UNTIL_S = 100;

/** Ten requests a second, each a second of decode. */
function steadyLoad() {
  const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
  for (let i = 0; i < UNTIL_S * 10; i += 1) {
    builder.add({ arrivalUs: i * 100_000, promptTokens: 64, outputTokens: 100 });
  }
  return builder.build();
}

function scenario(topology: string, overrides: Partial<BatonConfig>) {
  const config = defaultConfig({
    topology,
    stepTime: 'constant',
    timeToFirstToken: 20,
    interTokenLatency: 10,
    maxNumSeqs: 16,
    ...overrides,
  });
  return scenarioOf(config, steadyLoad(), { changes: configuredChanges(config) });
}

describe('a schedule of changes on the virtual clock', () => {
  it('makes engines join and leave at their instants', () => {
    const run = simulate(
      scenario('1P1D', { changes: '20s:+2D,50s:1D>A,80s:-1D', startupDuration: 5 }),
    );
    const seen = run.engines.map(({ role, upUs }) => [role, Math.round(upUs / SECOND)]);
    const end = Math.round(run.endUs / SECOND);
    expect(seen.map(([role]) => role)).toEqual([
      ...['prefill', 'decode', 'decode', 'decode', 'aggregated'],
    ]);
    expect(seen[0]).toEqual(['prefill', end]);
    const decodes = seen.filter(([role]) => role === 'decode').map(([, up]) => Number(up));
    // Of three, one goes at 50 s and one at 80 s, each when it is empty; those of the start were
    // ready at 0, the others at 25 s.
    const left = [end - 25, 80 - 25, 50 - 25, 50, 80, end];
    expect(decodes.every((up) => left.some((each) => Math.abs(up - each) <= 3))).toBe(true);
    expect(decodes.filter((up) => up === end || up === end - 25)).toHaveLength(1);
    expect(Math.abs(Number(seen[4]?.[1]) - (end - 55))).toBeLessThanOrEqual(3);
    expect(run.log.count).toBe(UNTIL_S * 10);
  });

  it('halves the work of an engine when another one joins and has loaded', () => {
    const finished = (changes?: string, startupDuration = 0): number[] =>
      simulate(scenario('1P1D', { changes, startupDuration }))
        .engines.filter(({ role }) => role === 'decode')
        .map((engine) => engine.finished);
    expect(finished()).toEqual([1_000]);
    expect(finished('0s:+1D')).toEqual([500, 500]);
    const [first = 0, joined = 0] = finished('0s:+1D', 50);
    expect(first + joined).toBe(1_000);
    expect(Math.abs(first - 750)).toBeLessThanOrEqual(8);
  });

  it('counts the GPUs of the instant with most of them', () => {
    expect(mostGpus(scenario('2P2D', { changes: '1s:+1D,1s:-1P,2s:+3D,3s:-4D' }))).toBe(7);
    expect(mostGpus(scenario('2P2D', { tensorParallelSize: 2 }))).toBe(8);
    const sized = { prefillTensorParallelSize: 4, changes: '5s:1D>P' };
    expect(mostGpus(scenario('2P2D', sized))).toBe(13);
  });

  it('refuses more engines than the limit of a run', () => {
    const changes = parseChanges(Array.from({ length: 30 }, (_, i) => `${i}s:+1001A`).join());
    expect(() => membershipChanges(changes, { poolOf: () => 0, ranks: 1 })).toThrow(UsageError);
  });
});

describe('data-parallel ranks on the virtual clock', () => {
  it('are engines of their own, each on the GPUs of one rank', () => {
    const { pools } = scenario('2P1D', { dataParallelSize: 4, tensorParallelSize: 2 });
    expect(pools.map(({ role, count, gpus }) => [role, count, gpus])).toEqual([
      ['prefill', 8, 2],
      ['decode', 4, 2],
    ]);
  });

  it('join and leave with their engine, also those of a dense model', () => {
    const config = { dataParallelSize: 2, changes: '20s:+1A,50s:-1A', startupDuration: 5 };
    const { lives } = simulate(scenario('1A', config));
    const of = (state: string): (readonly [number, number])[] =>
      lives
        .filter((life) => life.state === state)
        .map(({ engine, atUs }) => [Math.floor(engine / 2), atUs] as const);
    const joined = [1, 20 * SECOND] as const;
    expect(of('starting')).toEqual([joined, joined]);
    const [[left], [other]] = [of('draining')[0]!, of('draining')[1]!];
    expect(left).toBe(other);
    const gone = of('gone');
    expect(gone).toEqual([
      [left, gone[0]![1]],
      [left, gone[0]![1]],
    ]);
  });

  it('count with all their GPUs when an engine changes', () => {
    const changed = { dataParallelSize: 4, tensorParallelSize: 2, changes: '5s:+2D' };
    expect(mostGpus(scenario('1P1D', changed))).toBe(4 * 2 * 4);
  });

  it('are limited to the maximum of a cluster', () => {
    expect(() => scenario('600A', { dataParallelSize: 8 })).toThrow(
      '600A with data_parallel_size 8 makes 4800 ranks; there can be at most 4096.',
    );
  });
});
