import { describe, expect, it } from 'vitest';
import { EVERY_EPOCH, isBuried, overEpochOf, Tombstones } from './tombstones';

describe('Tombstones', () => {
  it('keeps the highest void epoch, and the runs that ended here', () => {
    const stones = new Tombstones<string>(1_000);
    stones.bury('a', 7, 0);
    stones.raise('a', 5, 10);
    expect(overEpochOf(stones.find('a'))).toBe(7);
    expect(isBuried(stones.find('a'), 7)).toBe(true);
    expect(isBuried(stones.find('a'), 5)).toBe(false);
    stones.raise('a', EVERY_EPOCH, 20);
    expect(overEpochOf(stones.find('a'))).toBe(EVERY_EPOCH);
    expect(overEpochOf(stones.find('b'))).toBe(-1);
  });

  it('keeps an entry for one span at least and two at most', () => {
    const stones = new Tombstones<string>(1_000);
    stones.bury('a', 1, 500);
    stones.bury('b', 1, 1_499);
    expect(isBuried(stones.find('a'), 1)).toBe(true);
    stones.bury('c', 1, 2_500);
    expect(isBuried(stones.find('a'), 1)).toBe(false);
  });

  it('stays bounded when very many requests end within one span', () => {
    const stones = new Tombstones<string>(1_000_000);
    for (let i = 0; i < 200_000; i += 1) stones.bury(`r${i}`, 1, 0);
    expect(isBuried(stones.find('r0'), 1)).toBe(false);
    expect(isBuried(stones.find('r199999'), 1)).toBe(true);
  });
});
