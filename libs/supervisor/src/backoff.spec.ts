import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Backoff } from './backoff';

const options = { firstMs: 100, longestMs: 1_000, steadyMs: 5_000, limit: 6 };

describe('backoff', () => {
  it('doubles the pause up to its bound, then gives up', () => {
    const backoff = new Backoff(options);
    const pauses = Array.from({ length: 7 }, () => backoff.next(0));
    expect(pauses).toEqual([100, 200, 400, 800, 1_000, 1_000, undefined]);
  });

  it('starts over after a steady life', () => {
    const backoff = new Backoff(options);
    backoff.next(0);
    backoff.next(0);
    expect(backoff.next(5_000)).toBe(100);
    expect(backoff.next(0)).toBe(200);
  });

  it('never waits longer than its bound, whatever the lives', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(10_000), { maxLength: 50 }), (lives) => {
        const backoff = new Backoff(options);
        return lives.every((lived) => (backoff.next(lived) ?? 0) <= options.longestMs);
      }),
      { numRuns: 300 },
    );
  });
});
