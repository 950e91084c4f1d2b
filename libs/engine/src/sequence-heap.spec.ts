import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EngineSequence } from './sequence';
import { SequenceHeap } from './sequence-heap';

describe('SequenceHeap', () => {
  it('gives the first of the remaining sequences, whichever are taken out in between', () => {
    const ranks = fc.uniqueArray(fc.nat(99), { maxLength: 40 });
    fc.assert(
      fc.property(ranks, fc.array(fc.nat(39), { maxLength: 20 }), (order, removals) => {
        const heap = new SequenceHeap((a, b) => a.rank < b.rank);
        const items = order.map((rank, handle) =>
          Object.assign(new EngineSequence(handle), { rank }),
        );
        items.forEach((item) => heap.push(item));
        const gone = new Set(removals.filter((at) => at < items.length));
        gone.forEach((at) => heap.remove(items[at]!));
        const left: number[] = [];
        for (let item = heap.peek(); item !== undefined; item = heap.peek()) {
          left.push(item.rank);
          heap.remove(item);
        }
        const expected = order.filter((_, at) => !gone.has(at)).sort((a, b) => a - b);
        expect(left).toEqual(expected);
        expect(heap.size).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
