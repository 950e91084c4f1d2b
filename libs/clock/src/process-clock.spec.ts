import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TimerWheel } from './timer-wheel';
import { ProcessClock } from './process-clock';

const TIMES = { lockCeilingMs: 30_000, latenessHalfLifeMs: 10_000 };

describe('the clock of an idle process', () => {
  let clock: ProcessClock;
  let pausedMs: number;

  beforeEach(() => {
    vi.useFakeTimers();
    pausedMs = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + pausedMs);
    clock = new ProcessClock(TIMES, new TimerWheel());
    // The timers are slow from now on.
    vi.advanceTimersByTime(7_000);
  });
  afterEach(() => {
    clock.stop();
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** The process is stopped: the clock continues, and no timer fires. */
  const pause = (ms: number): void => {
    pausedMs += ms;
  };

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
