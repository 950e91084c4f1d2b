import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { constantArrivals, poissonArrivals } from './arrivals';
import type { Arrivals } from './arrivals';

function take(arrivals: Arrivals, count: number): number[] {
  return Array.from({ length: count }, () => arrivals.next().value);
}

describe('constantArrivals', () => {
  it('keeps its rate over a long time although gaps are whole microseconds', () => {
    const instants = take(constantArrivals(3, 100), 3_001);
    expect(instants.slice(0, 4)).toEqual([100, 333_433, 666_767, 1_000_100]);
    expect(instants[3_000]).toBe(1_000_000_100);
  });
});

describe('poissonArrivals', () => {
  const seeded = (seed: number): Arrivals =>
    poissonArrivals(50, RandomStream.root(seed).stream('arrivals'));

  it('has the rate and the variance of a Poisson process', () => {
    const instants = take(seeded(1), 20_000);
    expect(Math.abs((instants.at(-1) ?? 0) / 400e6 - 1)).toBeLessThan(0.03);
    const gaps = instants.map((at, i) => at - (instants[i - 1] ?? 0));
    const spread = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - 20_000) ** 2, 0) / gaps.length);
    expect(Math.abs(spread / 20_000 - 1)).toBeLessThan(0.03);
  });

  it('gives whole instants in order, the same for the same seed', () => {
    const instants = take(seeded(2), 1_000);
    expect(instants.every(Number.isInteger)).toBe(true);
    expect(instants).toEqual([...instants].sort((a, b) => a - b));
    expect(instants).toEqual(take(seeded(2), 1_000));
    expect(instants).not.toEqual(take(seeded(3), 1_000));
  });

  it('refuses a rate that is none', () => {
    expect(() => poissonArrivals(0, RandomStream.root(1)).next()).toThrow(/rate/);
    expect(() => constantArrivals(Infinity).next()).toThrow(/rate/);
  });
});
