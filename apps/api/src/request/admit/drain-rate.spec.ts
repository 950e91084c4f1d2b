import { describe, expect, it } from 'vitest';
import { DrainRate } from './drain-rate';

describe('the drain rate', () => {
  it('is what left per second in the last ten seconds', () => {
    const rate = new DrainRate();
    for (let ms = 0; ms < 20_000; ms += 100) rate.add(1, ms);
    expect(rate.perSecond(20_000)).toBeCloseTo(9, 0);
  });

  it('goes to zero when nothing leaves', () => {
    const rate = new DrainRate();
    rate.add(50, 1_000);
    expect(rate.perSecond(1_500)).toBe(50);
    expect(rate.perSecond(60_000)).toBe(0);
  });
});
