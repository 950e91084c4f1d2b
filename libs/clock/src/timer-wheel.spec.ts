import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PeriodicTimer, msToTick, TimerWheel } from './timer-wheel';

describe('a periodic timer', () => {
  it('comes within one period, up to 1 ms after a multiple of it', () => {
    const instant = fc.double({ min: 0, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(instant, fc.integer({ min: 10, max: 5_000 }), (nowMs, periodMs) => {
        const waitMs = msToTick(periodMs, nowMs);
        expect(Number.isInteger(waitMs)).toBe(true);
        expect(waitMs).toBeGreaterThan(2);
        expect(waitMs).toBeLessThanOrEqual(periodMs + 3);
        expect((nowMs + waitMs + 1e-6) % periodMs).toBeLessThan(1 + 1e-3);
      }),
    );
  });

  it('falls on the same instant for periods that divide each other', () => {
    expect([100, 200, 500, 1_000].map((period) => msToTick(period, 4_950.5))).toEqual([
      50, 50, 50, 50,
    ]);
  });

  it('that rings a little early does not ring twice', () => {
    expect(msToTick(1_000, 4_999.3)).toBe(1_001);
    expect(msToTick(1_000, 5_000.4)).toBe(1_000);
  });
});

describe('the timers of a process', () => {
  let wheel: TimerWheel;
  let rung: string[];

  beforeEach(() => {
    vi.useFakeTimers();
    wheel = new TimerWheel();
    rung = [];
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A timer that notes its name; one with `mayBeSlow` may be slow. */
  const timer = (name: string, periodMs: number, mayBeSlow?: () => boolean) =>
    new PeriodicTimer(periodMs, () => rung.push(name), mayBeSlow, wheel);
  const during = (ms: number): Record<string, number> => {
    rung = [];
    vi.advanceTimersByTime(ms);
    return Object.fromEntries([...new Set(rung)].map((name) => [name, timesOf(name)]));
  };
  const timesOf = (name: string): number => rung.filter((each) => each === name).length;

  it('have one timer', () => {
    for (const periodMs of [200, 400, 500, 1_000]) timer(`${periodMs}`, periodMs);
    expect(vi.getTimerCount()).toBe(1);
    expect(during(10_000)).toEqual({ 200: 50, 400: 25, 500: 20, 1_000: 10 });
    expect(vi.getTimerCount()).toBe(1);
  });

  it('are slow while nothing speeds them up, those that may be', () => {
    timer('slow', 200, () => true);
    timer('regular', 500);
    expect(during(4_900)).toMatchObject({ slow: 24, regular: 9 });
    during(1_100);
    expect(during(10_000)).toEqual({ slow: 10, regular: 20 });
    wheel.speedUp();
    expect(during(4_900)).toMatchObject({ slow: 24 });
  });

  it('are slow only while all of them may be', () => {
    let mayBeSlow = false;
    timer('a', 200, () => true);
    timer('b', 400, () => mayBeSlow);
    expect(during(20_000)).toEqual({ a: 100, b: 50 });
    mayBeSlow = true;
    during(1_000);
    expect(during(10_000)).toEqual({ a: 10, b: 10 });
    mayBeSlow = false;
    during(1_000);
    expect(during(10_000)).toEqual({ a: 50, b: 25 });
  });

  it('come no more once stopped, not even in the same turn', () => {
    const second = timer('second', 1_000);
    second.stop();
    const first = new PeriodicTimer(1_000, () => third.stop(), undefined, wheel);
    const third = timer('third', 1_000);
    expect(during(3_000)).toEqual({});
    first.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
