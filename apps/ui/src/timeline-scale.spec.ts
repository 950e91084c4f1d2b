import type { PictureRates } from '@baton/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LEAST_S, RateHistory, WINDOW_S } from './charts/rate-history';
import { ticks, toX } from './timeline-scale';

const RATES: PictureRates = {
  ttftMs: { p50: 1, p99: 2 },
  itlMs: null,
  tokensPerSecond: 3,
  requestsPerSecond: 4,
  finishedPerSecond: 5,
  refusedPerSecond: 0,
  refusals: [],
};

describe('a time scale', () => {
  it('has a few round ticks within it', () => {
    const length = fc.integer({ min: 1, max: 10_000_000_000 });
    fc.assert(
      fc.property(length, fc.integer({ min: 2, max: 12 }), (untilUs, count) => {
        const at = ticks({ fromUs: 0, untilUs, width: 1 }, count);
        expect(at[0]).toBe(0);
        expect(at.length).toBeLessThanOrEqual(count + 1);
        for (const us of at) expect(us).toBeLessThanOrEqual(untilUs);
      }),
    );
    expect(ticks({ fromUs: 0, untilUs: 4_990_000, width: 1 }, 8)).toEqual([
      0, 1_000_000, 2_000_000, 3_000_000, 4_000_000,
    ]);
  });

  it('puts instants at their positions, and none outside', () => {
    const scale = { fromUs: 100, untilUs: 300, width: 50 };
    expect([100, 200, 300, 0, 999].map((us) => toX(scale, us))).toEqual([0, 25, 50, 0, 50]);
    expect(toX({ fromUs: 5, untilUs: 5, width: 50 }, 5)).toBe(0);
  });
});

describe('the history of rates', () => {
  it('is as long as its window, in seconds before the newest', () => {
    const history = new RateHistory();
    for (let second = 0; second <= 300; second += 1) history.add(second * 1_000, RATES);
    const [xs = [], ttft = [], itl = [], tokens = []] = history.columns([
      'ttft50',
      'itl99',
      'tokens',
    ]);
    expect([xs[0], xs.at(-1), xs.length]).toEqual([-WINDOW_S, 0, WINDOW_S + 1]);
    expect([ttft[0], itl[0], tokens[0]]).toEqual([1, null, 3]);
    expect(history.spanS).toBe(WINDOW_S);
  });

  it('shows a short one on its own scale', () => {
    const history = new RateHistory();
    expect(history.spanS).toBe(LEAST_S);
    history.add(0, RATES);
    history.add(60_000, RATES);
    expect(history.spanS).toBe(60);
    history.clear();
    expect(history.columns(['tokens'])).toEqual([[], []]);
  });
});
