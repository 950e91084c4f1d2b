import { describe, expect, it } from 'vitest';
import { MemoryRelease } from './memory-release';

const MIB = 2 ** 20;

/** The looks, by number, at which a collection is worth it. */
function worthIn(usedMib: readonly number[]): number[] {
  const memory = new MemoryRelease();
  return usedMib.flatMap((used, i) => (memory.isWorthIt(used * MIB) ? [i] : []));
}

describe('the memory of an idle process', () => {
  it('is collected once after a load', () => {
    expect(worthIn([60, 400, 401, 60, 61, 60])).toEqual([2]);
  });

  it('is collected again when V8 has not done so', () => {
    expect(worthIn([60, 400, 401, 401, 60, 61, 60])).toEqual([2, 3]);
  });

  it('is collected again after each load', () => {
    expect(worthIn([60, 400, 401, 60, 60, 300, 300, 60, 60])).toEqual([2, 6]);
  });

  it('is left alone while it changes, because V8 then collects by itself', () => {
    expect(worthIn([60, 100, 150, 90, 140, 80, 130])).toEqual([]);
  });

  it('is left alone when it has grown little', () => {
    expect(worthIn([60, 62, 64, 70, 75, 80, 85, 90])).toEqual([]);
  });

  it('is not collected again and again when it is in use', () => {
    expect(worthIn([60, 200, 200, 200, 200, 201, 201, 202])).toEqual([2, 3, 4]);
  });
});
