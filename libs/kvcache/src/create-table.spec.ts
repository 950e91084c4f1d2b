import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { createTable } from './create-table';

const BLOCKS = 50;
const SEED = 3;

describe.each([
  { kind: 'any hashes', contentCount: 0, most: 2 ** 53 - 1 },
  { kind: 'dense content ids', contentCount: 1_000_000, most: 1_000_000 },
])('the block table over $kind', ({ contentCount, most }) => {
  it(`finds its content under unique ids (seed ${SEED})`, () => {
    const random = RandomStream.root(SEED);
    const table = createTable(BLOCKS, contentCount);
    const model = new Map<number, number>();
    const hashes = Array.from({ length: 200 }, () => 1 + random.integer(most));
    for (let i = 0; i < 20_000; i++) {
      const hash = hashes[random.integer(hashes.length)]! + random.integer(2);
      const id = model.get(hash);
      if (id !== undefined && random.unit() < 0.5) {
        table.remove(id, 1);
        model.delete(hash);
      } else if (id !== undefined || model.size < BLOCKS) {
        const entered = table.enter(Math.min(hash, most), -1, 0);
        expect(entered < 0).toBe(model.has(Math.min(hash, most)));
        if (entered > 0) model.set(Math.min(hash, most), entered);
      }
      expect(table.size).toBe(model.size);
    }
    expect(new Set(model.values()).size).toBe(model.size);
    for (const [hash, id] of model) {
      expect([table.find(hash, 0), table.hashOf(id)]).toEqual([id, hash]);
      expect(id).toBeLessThanOrEqual(table.lastId);
    }
    for (const hash of hashes) if (!model.has(hash)) expect(table.find(hash, 0)).toBe(-1);
  });

  it('raises the generation of an id when it gets other content', () => {
    const table = createTable(1, contentCount);
    const first = table.enter(5, -1, 0);
    const before = table.generationOf(first);
    table.remove(first, 1);
    expect(table.generationOf(table.enter(900, -1, 0))).toBe(before + 1);
  });

  it('gives private blocks their own ids', () => {
    const table = createTable(3, contentCount);
    const ids = [table.drawPrivate(), table.enter(7, -1, 0), table.drawPrivate()];
    expect(new Set(ids).size).toBe(3);
    table.vacatePrivate(ids[0]!);
    expect(table.drawPrivate()).toBe(ids[0]);
    expect(table.generationOf(ids[0]!)).toBe(2);
  });
});

describe('dense content ids', () => {
  it('must not exceed the announced count', () => {
    const table = createTable(4, 5);
    expect(table.find(table.enter(5, -1, 0), 0)).toBe(-1);
    expect(() => table.enter(6, -1, 0)).toThrow(/beyond the number announced/);
  });
});
