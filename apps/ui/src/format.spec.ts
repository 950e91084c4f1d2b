import { describe, expect, it } from 'vitest';
import { formatCount, readableMs, formatOf, readableShare, formatUs } from './format';

describe('formatted numbers', () => {
  it.each([
    [0, '0'],
    [3, '3'],
    [12.345, '12.3'],
    [999.6, '1000'],
    [12_345, '12.3 k'],
    [3_400_000, '3.4 M'],
    [null, '–'],
    [NaN, '–'],
  ])('counts %s as %s', (value, text) => {
    expect(formatCount(value)).toBe(text);
  });

  it.each([
    [0, '0 ms'],
    [0.25, '250 µs'],
    [8.342, '8.34 ms'],
    [1_840, '1.84 s'],
    [90_000, '1.5 min'],
    [undefined, '–'],
  ])('writes %s ms as %s', (value, text) => {
    expect(readableMs(value)).toBe(text);
  });

  it('writes µs as µs', () => {
    expect([formatUs(65_100), formatUs(12), formatUs(null)]).toEqual(['65.1 ms', '12 µs', '–']);
  });

  it('writes no value above 0 as 0', () => {
    expect([readableShare(0), readableShare(0.001), readableShare(0.5)]).toEqual([
      '0 %',
      '<1 %',
      '50 %',
    ]);
    expect([formatOf(1, 'engine'), formatOf(2, 'engine')]).toEqual(['1 engine', '2 engines']);
  });
});
