import { RandomStream } from '../random-stream';
import { describe, expect, it } from 'vitest';
import { IntegerMap } from './integer-map';

describe('an integer map', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('behaves like a Map (seed %i)', (seed) => {
    const random = RandomStream.root(seed);
    const keys = 1 + random.integer(200);
    const stride = 1 + random.integer(3) * 1_024;
    const map = new IntegerMap<number>();
    const plain = new Map<number, number>();
    for (let i = 0; i < 5_000; i++) {
      const key = random.integer(keys) * stride;
      if (random.integer(2) === 0) {
        map.set(key, i);
        plain.set(key, i);
      } else {
        expect(map.delete(key)).toBe(plain.delete(key));
      }
      const other = random.integer(keys) * stride;
      expect(map.get(other)).toBe(plain.get(other));
      expect(map.has(other)).toBe(plain.has(other));
      expect(map.size).toBe(plain.size);
    }
    const inOrder = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);
    expect(inOrder(map.values())).toEqual(inOrder(plain.values()));
    map.clear();
    expect(map.size).toBe(0);
    expect(map.values()).toEqual([]);
  });

  it.each([-1, 0.5, 2 ** 31])('refuses the key %d', (key) => {
    expect(() => new IntegerMap().set(key, 1)).toThrow(/integer/);
  });
});
