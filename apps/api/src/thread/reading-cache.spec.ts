import { spendWork } from '@baton/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import { ReadingCache } from './reading-cache';

const MIB = 1024 * 1024;

describe('what a thread keeps of requests', () => {
  let kept: ReadingCache<string>;
  beforeEach(() => {
    kept = new ReadingCache();
  });

  const left = (): number[] =>
    Array.from({ length: 20 }, (_, ticket) => ticket).filter((one) => kept.get(one) !== undefined);

  it('is the last eight', () => {
    for (let ticket = 0; ticket < 10; ticket += 1) kept.add(ticket, 1, () => 'read');
    kept.delete(5);
    expect(left()).toEqual([2, 3, 4, 6, 7, 8, 9]);
  });

  it('is less where their bodies are long', () => {
    for (let ticket = 0; ticket < 3; ticket += 1) kept.add(ticket, 2 * MIB, () => 'read');
    expect(left()).toEqual([1, 2]);
    expect(kept.add(3, 16 * MIB, () => 'long')).toBe('long');
    expect(left()).toEqual([3]);
  });

  it('is less where they took much work', () => {
    const read = (units: number) => (): string => {
      spendWork(units);
      return 'read';
    };
    kept.add(0, 1, read(400_000));
    kept.add(1, 1, read(100_000));
    expect(left()).toEqual([0, 1]);
    kept.add(2, 1, read(1));
    expect(left()).toEqual([1, 2]);
    kept.add(3, 1, read(9_000_000));
    expect(left()).toEqual([3]);
  });
});
