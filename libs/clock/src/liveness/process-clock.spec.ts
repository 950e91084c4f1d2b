import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TimerWheel } from '../timer-wheel';
import { ProcessClock } from './process-clock';

const TIMES = { lockCeilingMs: 30_000, latenessHalfLifeMs: 10_000 };

let clock: ProcessClock;
let pausedMs: number;

beforeEach(() => {
  vi.useFakeTimers();
  pausedMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + pausedMs);
  clock = new ProcessClock(TIMES, new TimerWheel());
});
afterEach(() => {
  clock.stop();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The process is stopped: the clock continues, and no timer fires. */
function pause(ms: number): void {
  pausedMs += ms;
  clock.awakeMs();
}

describe('the clock of an idle process', () => {
  // The timers are slow from then on.
  beforeEach(() => {
    vi.advanceTimersByTime(7_000);
  });

  it('counts all time while nothing stops it', () => {
    const beforeMs = clock.awakeMs();
    vi.advanceTimersByTime(20_000);
    expect(clock.awakeMs() - beforeMs).toBeCloseTo(20_000, 3);
    expect(clock.latenessMs()).toBe(0);
  });

  it('counts at most one interval of a pause, and is late by the rest', () => {
    const beforeMs = clock.awakeMs();
    pause(10_000);
    expect(clock.awakeMs() - beforeMs).toBeLessThanOrEqual(1_100);
    expect(clock.latenessMs()).toBeGreaterThanOrEqual(8_900);
  });

  it('counts at most 300 ms of a pause while an answer is awaited', () => {
    const beforeMs = clock.awakeMs();
    const settle = clock.whileAwaited(
      () => 1,
      () => undefined,
    );
    pause(10_000);
    expect(settle() - beforeMs).toBeLessThanOrEqual(300);
    expect(clock.latenessMs()).toBeGreaterThanOrEqual(9_700);
  });

  it('expires a wait by awake time alone', () => {
    const expired: number[] = [];
    const dueMs = clock.awakeMs() + 700;
    const settle = clock.whileAwaited(
      (awakeMs) => dueMs - awakeMs,
      () => expired.push(clock.awakeMs()),
    );
    pause(10_000);
    vi.advanceTimersByTime(300);
    expect(expired).toEqual([]);
    vi.advanceTimersByTime(500);
    expect(expired).toHaveLength(1);
    expect(expired[0]).toBeGreaterThanOrEqual(dueMs);
    settle();
  });

  it('reads the clock five times a second again after a pause', () => {
    pause(10_000);
    vi.advanceTimersByTime(2_000);
    const beforeMs = clock.awakeMs();
    pause(10_000);
    expect(clock.awakeMs() - beforeMs).toBeLessThanOrEqual(300);
  });
});

describe('the clock of a process', () => {
  it('never runs backwards nor faster than time', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(gaps, (steps) => {
        for (const step of steps) {
          const beforeMs = clock.awakeMs();
          pausedMs += step;
          const ranMs = clock.awakeMs() - beforeMs;
          expect(ranMs).toBeGreaterThanOrEqual(0);
          expect(ranMs).toBeLessThanOrEqual(Math.min(step, 300));
        }
      }),
    );
  });

  it('gives the plain lease to a process that is on time', () => {
    vi.advanceTimersByTime(2_000);
    expect(clock.leaseMs(1_800)).toBe(1_800);
  });

  it('covers three times the worst pause, which fades with awake time alone', () => {
    pause(2_300);
    pause(310);
    expect(clock.leaseMs(1_800)).toBe(1_800 + 3 * Math.round(clock.latenessMs()));
    expect(clock.latenessMs()).toBeCloseTo(2_000, -2);
    vi.advanceTimersByTime(10_000);
    expect(clock.latenessMs()).toBeCloseTo(1_000, -2);
    vi.advanceTimersByTime(300_000);
    expect(clock.leaseMs(1_800)).toBe(1_800);
  });

  it('gives a lease between its floor and the maximum, longer after a longer pause', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 60_000 }), { maxLength: 5 });
    fc.assert(
      fc.property(pauses, fc.nat(60_000), (seen, floorMs) => {
        for (const ms of seen) {
          const beforeMs = clock.latenessMs();
          pause(ms);
          expect(clock.latenessMs()).toBeGreaterThanOrEqual(Math.min(beforeMs * 0.97, ms));
        }
        expect(clock.leaseMs(floorMs)).toBeGreaterThanOrEqual(floorMs);
        expect(clock.leaseMs(floorMs)).toBeLessThanOrEqual(Math.max(floorMs, 30_000));
      }),
    );
  });

  it('tries again for the lateness of both processes, and not without end', () => {
    expect(clock.moreTries(0, 1_000)).toBe(0);
    expect(clock.moreTries(2_000, 1_000)).toBe(10);
    pause(2_300);
    expect(clock.moreTries(2_000, 1_000)).toBeCloseTo(20, 1);
    expect(clock.moreTries(1e9, 1_000)).toBe(30);
  });

  it('shows how late its timers were in the last minute', () => {
    expect(clock.loopLagMs()).toBe(0);
    pausedMs += 3_000;
    vi.advanceTimersByTime(400);
    expect(clock.loopLagMs()).toBeGreaterThanOrEqual(2_900);
    vi.advanceTimersByTime(70_000);
    expect(clock.loopLagMs()).toBeLessThan(10);
  });
});
