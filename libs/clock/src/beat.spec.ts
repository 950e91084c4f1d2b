import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { msToBeat } from './beat';

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
