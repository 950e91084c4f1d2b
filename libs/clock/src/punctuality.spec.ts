import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Wheel } from './beat';
import { Punctuality } from './punctuality';

const TIMES = { lockCeilingMs: 30_000, latenessHalfLifeMs: 10_000 };

describe('the punctuality of an idle process', () => {
  let punctuality: Punctuality;
  let pausedMs: number;

  beforeEach(() => {
    vi.useFakeTimers();
    pausedMs = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + pausedMs);
    punctuality = new Punctuality(TIMES, new Wheel());
    // The beats are slow from now on.
    vi.advanceTimersByTime(7_000);
  });
  afterEach(() => {
    punctuality.stop();
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** The process is stopped: the clock goes on, and no timer rings. */
  const pause = (ms: number): void => {
    pausedMs += ms;
  };

  it('counts all time while nothing stops it', () => {
    const beforeMs = punctuality.awakeMs();
    vi.advanceTimersByTime(20_000);
    expect(punctuality.awakeMs() - beforeMs).toBeCloseTo(20_000, 3);
    expect(punctuality.latenessMs()).toBe(0);
  });

  it('counts at most one interval of a pause, and is late by the rest', () => {
    const beforeMs = punctuality.awakeMs();
    pause(10_000);
    expect(punctuality.awakeMs() - beforeMs).toBeLessThanOrEqual(1_100);
    expect(punctuality.latenessMs()).toBeGreaterThanOrEqual(8_900);
  });

  it('counts at most 300 ms of a pause while an answer is awaited', () => {
    const beforeMs = punctuality.awakeMs();
    const settle = punctuality.whileAwaited(
      () => 1,
      () => undefined,
    );
    pause(10_000);
    expect(settle() - beforeMs).toBeLessThanOrEqual(300);
    expect(punctuality.latenessMs()).toBeGreaterThanOrEqual(9_700);
  });

  it('expires a wait by awake time alone', () => {
    const expired: number[] = [];
    const dueMs = punctuality.awakeMs() + 700;
    const settle = punctuality.whileAwaited(
      (awakeMs) => dueMs - awakeMs,
      () => expired.push(punctuality.awakeMs()),
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
    const beforeMs = punctuality.awakeMs();
    pause(10_000);
    expect(punctuality.awakeMs() - beforeMs).toBeLessThanOrEqual(300);
  });
});
