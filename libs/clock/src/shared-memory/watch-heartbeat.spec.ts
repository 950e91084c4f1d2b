import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SharedInstant } from './shared-instant';
import { watchHeartbeat } from './watch-heartbeat';

const TIMES = { everyMs: 450, forMs: 1_800 };

describe('the watch over a heartbeat', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** The instants of its looks in that time, while the heartbeat is marked like this. */
  function looksOf(markedMs: (nowMs: number) => number, forMs: number): number[] {
    const looks: number[] = [];
    const heartbeat = { ageMs: () => performance.now() - markedMs(performance.now()) };
    const beganMs = performance.now();
    const look = (): Promise<void> => {
      looks.push(performance.now() - beganMs);
      return Promise.resolve();
    };
    watchHeartbeat(heartbeat as SharedInstant, TIMES, look);
    vi.advanceTimersByTime(forMs);
    return looks;
  }

  it('looks at the usual interval while the other thread is busy or late', () => {
    const often = [0, 450, 900, 1_350, 1_800];
    expect(looksOf((nowMs) => nowMs - (nowMs % 200), 1_800)).toEqual(often);
    expect(looksOf(() => 0, 1_800)).toEqual(often);
  });

  it('looks less often while heartbeats are marked ahead, and in time for each lease', () => {
    expect(looksOf((nowMs) => nowMs + 800, 3_750)).toEqual([0, 1_250, 2_500, 3_750]);
    expect(looksOf((nowMs) => nowMs + 60_000, 4_050)).toEqual([0, 1_350, 2_700, 4_050]);
  });
});
