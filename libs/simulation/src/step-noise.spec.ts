import { noiseFrom } from '@baton/step-time';
import { describe, expect, it } from 'vitest';
import { scenarioWith, workloadOf } from '../test/test-scenario';
import { simulate } from './driver';

const SPREAD = noiseFrom(Array.from({ length: 100 }, (_, i) => 0.5 + i / 100))!;
const LOAD = Array.from({ length: 40 }, (_, i) => ({ atUs: 4_000 * i, prompt: 20, output: 30 }));

const endsOf = ({ leap = true, seed = 1, isNoisy = true }): number[] => {
  const stepNoise = { decode: SPREAD, prefill: SPREAD };
  const options = isNoisy ? { seed, stepNoise } : { seed };
  const { log } = simulate(scenarioWith('2P2D', workloadOf(LOAD), { options, leap }));
  return [...log.finishUs];
};

describe('a run whose steps scatter', () => {
  it('is a function of its seed, and the same with and without leaps', () => {
    expect(endsOf({})).toEqual(endsOf({}));
    expect(endsOf({ leap: false })).toEqual(endsOf({}));
    expect(endsOf({ seed: 2 })).not.toEqual(endsOf({}));
    expect(endsOf({ isNoisy: false })).not.toEqual(endsOf({}));
  });
});
