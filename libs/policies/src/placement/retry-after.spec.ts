import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryAfterSeconds } from './retry-after';

describe('retryAfterSeconds', () => {
  it.each([
    [100, 10, 10],
    [101, 10, 11],
    [1, 1_000, 1],
    [0, 0, 1],
    [10_000, 1, 60],
    [5, 0, 60],
    [5, NaN, 60],
  ])('of %d waiting at %d per second is %d', (waiting, rate, seconds) => {
    expect(retryAfterSeconds(waiting, rate)).toBe(seconds);
  });

  it('is always a whole number from 1 to 60', () => {
    fc.assert(
      fc.property(fc.nat(), fc.double(), (waiting, rate) => {
        const seconds = retryAfterSeconds(waiting, rate);
        expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60).toBe(true);
      }),
    );
  });
});
