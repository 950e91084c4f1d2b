import { NEVER } from '@baton/analysis';
import { simulate } from '@baton/simulation';
import { prepareReplay } from '@baton/replay';
import { beforeAll, describe, expect, it } from 'vitest';
import { readReplayFlags } from '../replay-flags';
import { pictureIntervalUs, runPictures } from './run-pictures';

const WORKLOAD = { dataset: 'random', numPrompts: '120', requestRate: '30' };
const SCALED = { max: '3P3D', autoscaler: 'schedule:0s=1P1D+2s=3P3D', scaleInterval: '0.5' };

async function pictured(given: Record<string, string>) {
  const flags = readReplayFlags({ ...WORKLOAD, ...given });
  const { scenario } = await prepareReplay(flags, {}, () => undefined);
  const run = simulate(scenario);
  return { run, pictures: [...runPictures(run, () => undefined)] };
}

describe('pictures of a run', () => {
  let split: Awaited<ReturnType<typeof pictured>>;
  beforeAll(async () => {
    split = await pictured({ topology: '2P2D' });
  });

  it('show each request from its arrival to its end, and send its name once', () => {
    const { run, pictures } = split;
    const { log } = run;
    for (const { at, phases, requests } of pictures) {
      const atUs = at * 1_000;
      let under = 0;
      for (let row = 0; row < log.count; row++) {
        if (log.arrivalUs.at(row) <= atUs && log.finishUs.at(row) > atUs) under += 1;
      }
      expect(phases.reduce((sum, count) => sum + count, 0)).toBe(under);
      expect(requests).toHaveLength(4 * under);
    }
    const named = pictures.flatMap(({ names }) => names.map(([key]) => key));
    expect(new Set(named).size).toBe(named.length);
    expect(pictures.at(-1)!.phases).toEqual([0, 0, 0, 0]);
  });

  it('have each request in its phase and on its engine of the log', () => {
    const { run, pictures } = split;
    const { log } = run;
    for (const { at, requests, engines } of pictures) {
      for (let i = 0; i < requests.length; i += 4) {
        const [row = 0, phase = 0, place = 0, tokens = 0] = requests.slice(i, i + 4);
        const begins = [log.arrivalUs, log.prefillStartUs, log.heldUs, log.transferEndUs];
        const passed = begins.filter(
          (us) => us.at(row) !== NEVER && us.at(row) <= at * 1_000,
        ).length;
        expect(phase).toBe(passed - 1);
        const of = [-1, log.prefillEngine[row], log.decodeEngine[row], log.decodeEngine[row]][
          phase
        ];
        expect(run.engines.findIndex(({ engineId }) => engineId === engines[place]?.id)).toBe(of);
        expect(tokens).toBeLessThanOrEqual(log.emittedTokens[row]!);
      }
    }
  });

  it('have rates that add up to the run', () => {
    const { run, pictures } = split;
    const seconds = pictureIntervalUs(run.endUs) / 1e6;
    const sum = (of: (rates: (typeof pictures)[number]['rates']) => number): number =>
      pictures.reduce((total, { rates }) => total + of(rates) * seconds, 0);
    expect(sum((rates) => rates.requestsPerSecond)).toBeCloseTo(120, 6);
    expect(sum((rates) => rates.finishedPerSecond)).toBeCloseTo(120, 6);
    const tokens = run.log.emittedTokens.reduce((total, count) => total + count, 0);
    expect(sum((rates) => rates.tokensPerSecond)).toBeCloseTo(tokens, 3);
  });

  it('have engines that join and leave at fixed times only while they are there', async () => {
    const changes = '1s:+1D,2s:-1D';
    const { run, pictures } = await pictured({ topology: '1P1D', changes });
    const countAt = (ms: number): number => {
      const states = pictures.find(({ at }) => at >= ms)!.engines.map(({ state }) => state);
      return states.filter((state) => state !== 'draining').length;
    };
    expect([countAt(500), countAt(1_500), countAt(2_500)]).toEqual([2, 3, 2]);
    expect(run.scaling).toBeUndefined();
  });

  it('count the requests whose KV is on a slow link as fetching', async () => {
    const { pictures } = await pictured({ topology: '1P1D', kvCacheTransferLatency: '400' });
    const decodes = pictures.flatMap(({ engines }) => engines.filter(({ name }) => name === 'D0'));
    expect(Math.max(...decodes.map(({ fetching }) => fetching))).toBeGreaterThan(2);
    for (const { fetching, waiting } of decodes) expect(fetching).toBeLessThanOrEqual(waiting);
  });

  it('distinguish requests that can never fit from those that admission refuses', async () => {
    const long = { randomInputLen: '4000', maxModelLen: '2048' };
    const { run, pictures } = await pictured({ topology: '1P1D', ...long });
    const seconds = pictureIntervalUs(run.endUs) / 1e6;
    const misfits = pictures.map(({ rates }) => rates.misfitsPerSecond! * seconds);
    expect(misfits.reduce((sum, count) => sum + count, 0)).toBeCloseTo(120, 6);
    expect(pictures.every(({ rates }) => rates.refusedPerSecond === 0)).toBe(true);
  });

  it('have the current engines while the cluster scales', async () => {
    const { pictures } = await pictured(SCALED);
    const counts = pictures.map(({ engines }) => engines.length);
    expect(counts[0]).toBe(2);
    expect(counts.at(-1)).toBe(6);
    expect([...counts].sort((a, b) => a - b)).toEqual(counts);
  });
});
