import { describe, expect, it } from 'vitest';
import { robustTop } from './robust-scale';

const level = Array.from({ length: 100 }, (_none, i) => 10 + (i % 5));

describe('the top of a scale', () => {
  it('is the highest value without outliers', () => {
    expect(robustTop(level)).toBe(14);
    expect(robustTop([...level, 40])).toBe(40);
  });

  it('ignores a value far above the others', () => {
    expect(robustTop([...level, 4_000, 43])).toBe(14);
  });

  it('follows a lasting rise', () => {
    expect(robustTop([...level, ...level.map((value) => value * 100)])).toBe(1_400);
  });

  it('has no outliers among few values, and ignores gaps', () => {
    expect(robustTop([1, null, 500])).toBe(500);
    expect(robustTop([null, undefined])).toBe(0);
    expect(robustTop([...Array.from({ length: 50 }, () => 0), 7])).toBe(7);
  });
});
