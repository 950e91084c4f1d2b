import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { OwnEntries } from './own-entries';

const EMPTY = { prefill: 0, decode: 0, aggregated: 0 };
const LIMIT = 640;
/** A 32nd of the limit. */
const SHARE = 20;

describe('the entries that a process makes without asking the broker', () => {
  it('are none before the counts are read, and none when the counts are old', () => {
    vi.useFakeTimers();
    const own = new OwnEntries();
    expect(own.tryEnter('prefill', 1, LIMIT)).toBe(false);
    own.read(EMPTY);
    expect(own.tryEnter('prefill', 1, LIMIT)).toBe(true);
    vi.advanceTimersByTime(1_001);
    expect(own.tryEnter('prefill', 1, LIMIT)).toBe(false);
    vi.useRealTimers();
  });

  it('are limited to a share of a stage’s free places, until they are counted', () => {
    const own = new OwnEntries();
    own.read({ ...EMPTY, decode: LIMIT - 32 });
    expect(own.tryEnter('decode', 2, LIMIT)).toBe(false);
    expect([own.tryEnter('decode', 1, LIMIT), own.tryEnter('decode', 1, LIMIT)]).toEqual([
      true,
      false,
    ]);
    expect(own.tryEnter('prefill', SHARE, LIMIT)).toBe(true);
    expect(own.tryEnter('prefill', 1, LIMIT)).toBe(false);
    own.read({ ...EMPTY, prefill: SHARE }, own.mark());
    expect(own.tryEnter('prefill', SHARE - 1, LIMIT)).toBe(true);
  });

  it('are counted once, even when answers overlap', () => {
    const own = new OwnEntries();
    own.read(EMPTY);
    expect(own.tryEnter('prefill', SHARE, LIMIT)).toBe(true);
    const [first, second] = [own.mark(), own.mark()];
    own.read({ ...EMPTY, prefill: SHARE }, second);
    own.read({ ...EMPTY, prefill: SHARE }, first);
    expect(own.tryEnter('prefill', SHARE, LIMIT)).toBe(false);
    expect(own.tryEnter('prefill', SHARE - 1, LIMIT)).toBe(true);
  });

  it('never exceed the limit of one process, and that of several at most by their shares', () => {
    const processes = fc.integer({ min: 1, max: 8 });
    const step = fc.record({ who: fc.nat(7), count: fc.integer({ min: 1, max: 30 }) });
    fc.assert(
      fc.property(processes, fc.array(step, { maxLength: 300 }), (count, steps) => {
        const all = Array.from({ length: count }, () => new OwnEntries());
        const unsent = all.map(() => 0);
        let counted = 0;
        for (const own of all) own.read(EMPTY);
        for (const { who, count: wanted } of steps) {
          const at = who % count;
          const own = all[at]!;
          if (own.tryEnter('prefill', wanted, LIMIT)) {
            unsent[at]! += wanted;
          } else {
            counted += unsent[at]!;
            unsent[at] = 0;
            own.read({ ...EMPTY, prefill: counted }, own.mark());
          }
          const total = unsent.reduce((sum, one) => sum + one, counted);
          expect(total).toBeLessThanOrEqual(LIMIT + (count - 1) * SHARE);
        }
      }),
    );
  });
});
