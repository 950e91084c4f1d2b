import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashString, mean } from '@baton/kernel';
import { TokenJitter } from './token-jitter';

const MEAN_MS = 20;
const jitterOf = (interTokenLatencyStdDevMs: number, firstTokenStdDevMs = 0) =>
  new TokenJitter({ interTokenLatencyMs: MEAN_MS, interTokenLatencyStdDevMs, firstTokenStdDevMs });

function intervalsMs(jitter: TokenJitter, count: number): number[] {
  const request = hashString('request');
  const at = (i: number) => i * MEAN_MS * 1000 + jitter.offsetUs(1, request, i);
  return Array.from({ length: count }, (_, i) => (at(i + 2) - at(i + 1)) / 1000);
}

function stdDev(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

describe('TokenJitter', () => {
  it('depends only on seed, request and index, not on the number or order of calls', () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        fc.maxSafeNat(),
        fc.array(fc.nat(5000)),
        (seed, hash, indexes) => {
          const first = jitterOf(3, 8);
          const second = jitterOf(3, 8);
          const forward = indexes.map((i) => first.offsetUs(seed, hash, i));
          const backward = indexes.toReversed().map((i) => second.offsetUs(seed, hash, i));
          expect(backward.toReversed()).toEqual(forward);
        },
      ),
    );
  });

  it(
    'stays at or after the step, and within 70 % of the interval, so that tokens keep their ' +
      'order',
    () => {
      fc.assert(
        fc.property(
          fc.maxSafeNat(),
          fc.nat(5000),
          fc.double({ min: 0, max: 50, noNaN: true }),
          (hash, index, sd) => {
            const offset = jitterOf(sd, sd).offsetUs(9, hash, index);
            expect(offset).toBeGreaterThanOrEqual(0);
            expect(offset).toBeLessThanOrEqual(0.7 * MEAN_MS * 1000);
          },
        ),
      );
    },
  );

  it.each([0.05, 0.4, 2])('gives intervals the wanted deviation, %d ms, and mean', (sd) => {
    const intervals = intervalsMs(jitterOf(sd), 20_000);
    expect(stdDev(intervals) / sd).toBeGreaterThan(0.97);
    expect(stdDev(intervals) / sd).toBeLessThan(1.03);
    expect(Math.abs(mean(intervals) - MEAN_MS)).toBeLessThan(0.001 * MEAN_MS);
  });

  it('is not rounded to milliseconds', () => {
    const offsets = Array.from({ length: 50 }, (_, i) => jitterOf(0.1).offsetUs(1, 2, i + 1));
    expect(new Set(offsets.map(Math.round)).size).toBeGreaterThan(30);
    expect(Math.max(...offsets)).toBeLessThan(1000);
  });

  it('caps the deviation at 30 % of the interval', () => {
    expect(intervalsMs(jitterOf(6), 50)).toEqual(intervalsMs(jitterOf(60), 50));
  });

  it('differs between requests and seeds, and is 0 without a deviation', () => {
    const jitter = jitterOf(2);
    expect(jitter.offsetUs(1, 2, 3)).not.toBe(jitter.offsetUs(1, 3, 3));
    expect(jitter.offsetUs(1, 2, 3)).not.toBe(jitter.offsetUs(2, 2, 3));
    expect(jitterOf(0).offsetUs(1, 2, 3)).toBe(0);
  });
});
