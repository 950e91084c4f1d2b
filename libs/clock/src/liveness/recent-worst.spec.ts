import { describe, expect, it } from 'vitest';
import { RecentWorst } from './recent-worst';

describe('the worst of the last half to whole minute', () => {
  it('is the same for every reader', () => {
    const worst = new RecentWorst();
    worst.note(5, 1_000);
    worst.note(2_000, 2_000);
    worst.note(3, 3_000);
    expect([worst.at(4_000), worst.at(4_000), worst.at(29_000)]).toEqual([2_000, 2_000, 2_000]);
  });

  it('lasts for half a minute at least, and for a minute at most', () => {
    const worst = new RecentWorst();
    worst.note(2_000, 29_999);
    worst.note(1, 31_000);
    expect([worst.at(59_999), worst.at(60_000), worst.at(90_000)]).toEqual([2_000, 1, 0]);
  });

  it('ends after a pause', () => {
    const worst = new RecentWorst();
    worst.note(2_000, 1_000);
    expect(worst.at(200_000)).toBe(0);
  });
});
