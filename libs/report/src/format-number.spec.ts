import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatMs,
  formatMsInterval,
  formatNumber,
  formatSeconds,
  formatShare,
  formatShareWithInterval,
  formatWithInterval,
} from './format-number';

describe('formatted numbers', () => {
  it.each([
    [null, '–'],
    [NaN, '–'],
    [0, '0'],
    [12_031, '12,031'],
    [1_234_567.8, '1,234,568'],
    [0.025_612, '0.0256'],
    [3.400_1, '3.4'],
    [999.96, '1,000'],
  ])('%s is written %s', (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });

  it('have the most readable unit', () => {
    expect([0, 0.02, 0.9999, 20.04, 999.4, 999.6, 1_520, 599_000, 744_000].map(formatMs)).toEqual([
      '0 ms',
      '20 µs',
      '1 ms',
      '20 ms',
      '999 ms',
      '1 s',
      '1.52 s',
      '599 s',
      '12.4 min',
    ]);
    expect(formatSeconds(0.612)).toBe('0.612 s');
    expect([0, 999, 1_000, 12_340_000_000].map(formatBytes)).toEqual([
      '0 B',
      '999 B',
      '1 kB',
      '12.3 GB',
    ]);
    expect([null, 0, 0.9734, 1].map(formatShare)).toEqual(['–', '0 %', '97.3 %', '100 %']);
  });

  it('have intervals in the unit of the figure', () => {
    expect(formatMsInterval(212.4, [190.2, 1_241])).toBe('[190, 1,241]');
    expect(formatMsInterval(1_520, [990, 2_400])).toBe('[0.99, 2.4]');
    expect(formatMsInterval(0.02, [0.018, 0.03])).toBe('[18, 30]');
    expect([formatMsInterval(null, null), formatMsInterval(5, null)]).toEqual(['', '']);
    expect(formatWithInterval(12, [11.12, 13])).toBe('12 [11.1, 13]');
    expect(formatWithInterval(12, null)).toBe('12');
    expect(formatShareWithInterval(0.97, [0.951, 1])).toBe('97 % [95.1, 100]');
  });
});
