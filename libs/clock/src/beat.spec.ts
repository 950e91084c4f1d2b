import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Beat, msToBeat, Wheel } from './beat';

describe('a beat', () => {
  it('comes within one period, up to 1 ms after a multiple of it', () => {
    const instant = fc.double({ min: 0, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(instant, fc.integer({ min: 10, max: 5_000 }), (nowMs, periodMs) => {
        const waitMs = msToBeat(periodMs, nowMs);
        expect(Number.isInteger(waitMs)).toBe(true);
        expect(waitMs).toBeGreaterThan(2);
        expect(waitMs).toBeLessThanOrEqual(periodMs + 3);
        expect((nowMs + waitMs + 1e-6) % periodMs).toBeLessThan(1 + 1e-3);
      }),
    );
  });

  it('falls on the same instant for periods that divide each other', () => {
    expect([100, 200, 500, 1_000].map((period) => msToBeat(period, 4_950.5))).toEqual([
      50, 50, 50, 50,
    ]);
  });

  it('that rings a little early does not ring twice', () => {
    expect(msToBeat(1_000, 4_999.3)).toBe(1_001);
    expect(msToBeat(1_000, 5_000.4)).toBe(1_000);
  });
});

describe('the beats of a process', () => {
  let wheel: Wheel;
  let rung: string[];

  beforeEach(() => {
    vi.useFakeTimers();
    wheel = new Wheel();
    rung = [];
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A beat that notes its name; one with `mayBeSlow` may be slow. */
  const beat = (name: string, periodMs: number, mayBeSlow?: () => boolean) =>
    new Beat(periodMs, () => rung.push(name), mayBeSlow, wheel);
  const during = (ms: number): Record<string, number> => {
    rung = [];
    vi.advanceTimersByTime(ms);
    return Object.fromEntries([...new Set(rung)].map((name) => [name, timesOf(name)]));
  };
  const timesOf = (name: string): number => rung.filter((each) => each === name).length;

  it('have one timer', () => {
    for (const periodMs of [200, 400, 500, 1_000]) beat(`${periodMs}`, periodMs);
    expect(vi.getTimerCount()).toBe(1);
    expect(during(10_000)).toEqual({ 200: 50, 400: 25, 500: 20, 1_000: 10 });
    expect(vi.getTimerCount()).toBe(1);
  });

  it('are slow once nothing has quickened them, those that may be', () => {
    beat('slow', 200, () => true);
    beat('regular', 500);
    expect(during(4_900)).toMatchObject({ slow: 24, regular: 9 });
    during(1_100);
    expect(during(10_000)).toEqual({ slow: 10, regular: 20 });
    wheel.quicken();
    expect(during(4_900)).toMatchObject({ slow: 24 });
  });

  it('are slow only while all of them may be', () => {
    let mayBeSlow = false;
    beat('a', 200, () => true);
    beat('b', 400, () => mayBeSlow);
    expect(during(20_000)).toEqual({ a: 100, b: 50 });
    mayBeSlow = true;
    during(1_000);
    expect(during(10_000)).toEqual({ a: 10, b: 10 });
    mayBeSlow = false;
    during(1_000);
    expect(during(10_000)).toEqual({ a: 50, b: 25 });
  });

  it('come no more once stopped, not even in the same turn', () => {
    const second = beat('second', 1_000);
    second.stop();
    const first = new Beat(1_000, () => third.stop(), undefined, wheel);
    const third = beat('third', 1_000);
    expect(during(3_000)).toEqual({});
    first.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
