import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fifo } from './fifo';

describe('a queue', () => {
  it('gives back what was put in, in the same order', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 300 }), (pushes) => {
        const [queue, model] = [new Fifo<number>(), [] as number[]];
        for (const [i, isPush] of pushes.entries()) {
          if (isPush) {
            queue.push(i);
            model.push(i);
          } else expect(queue.shift()).toBe(model.shift());
          expect(queue.length).toBe(model.length);
          expect(queue.peek()).toBe(model[0]);
        }
      }),
    );
  });
});
