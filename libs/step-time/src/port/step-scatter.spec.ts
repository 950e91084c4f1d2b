import { describe, expect, it } from 'vitest';
import { noiseFrom, StepScatter } from './step-noise';

const NOISE = {
  decode: noiseFrom(Array.from({ length: 200 }, (_, i) => 0.9 + i / 1_000))!,
  prefill: noiseFrom(Array.from({ length: 200 }, (_, i) => 0.5 + i / 100))!,
};
const drawn = (seed: number, engine: string, count = 50): number[] => {
  const scatter = new StepScatter(NOISE, seed, engine);
  return Array.from({ length: count }, (_, i) => scatter.next(i % 3 === 0));
};

describe('the scatter of an engine', () => {
  it('is a function of seed and name', () => {
    expect(drawn(7, 'decode-0')).toEqual(drawn(7, 'decode-0'));
    expect(drawn(7, 'decode-0')).not.toEqual(drawn(8, 'decode-0'));
    expect(drawn(7, 'decode-0')).not.toEqual(drawn(7, 'decode-1'));
  });

  it('has a mean of 1 within the error of a sample', () => {
    const scatter = new StepScatter(NOISE, 1, 'decode-0');
    const count = 100_000;
    const draws = Array.from({ length: count }, () => scatter.next(true));
    const mean = draws.reduce((sum, one) => sum + one, 0) / count;
    const variance = draws.reduce((sum, one) => sum + (one - mean) ** 2, 0) / count;
    expect(Math.abs(mean - 1)).toBeLessThan(4 * Math.sqrt(variance / count));
    expect(Math.sqrt(variance)).toBeGreaterThan(0.3);
  });

  it('takes one draw per step, so that a regime without a spread shifts no other', () => {
    const both = new StepScatter(NOISE, 3, 'e');
    const decodeAlone = new StepScatter({ decode: NOISE.decode }, 3, 'e');
    expect([both.next(false), both.next(true), both.next(false)][2]).toBe(
      [decodeAlone.next(false), decodeAlone.next(true), decodeAlone.next(false)][2],
    );
    expect(new StepScatter({}, 3, 'e').next(true)).toBe(1);
  });
});
