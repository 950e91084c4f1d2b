import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cheapestPath } from './cheapest-path';

/** By window, late requests with 1, 2 ... engines. */
function latesOf(windows: readonly (readonly number[])[]): Float64Array[] {
  return windows[0]!.map((_none, engines) => Float64Array.from(windows, (late) => late[engines]!));
}

const QUIET = [0, 0, 0];
const BUSY = [9, 3, 0];

describe('the cheapest path through late requests', () => {
  it('has engines only where requests would be late', () => {
    const lates = latesOf([QUIET, QUIET, QUIET, BUSY, BUSY, QUIET]);
    const path = cheapestPath(lates, { mostLate: 0, startupWindows: 0 });
    expect(path).toEqual([1, 1, 1, 3, 3, 1]);
  });

  it('keeps an engine through a pause that is shorter than its start', () => {
    const lates = latesOf([BUSY, QUIET, QUIET, BUSY]);
    expect(cheapestPath(lates, { mostLate: 0, startupWindows: 3 })).toEqual([3, 3, 3, 3]);
    expect(cheapestPath(lates, { mostLate: 0, startupWindows: 1 })).toEqual([3, 1, 1, 3]);
  });

  it('allows late requests where that saves most, up to the limit', () => {
    const lates = latesOf([BUSY, QUIET, [1, 0, 0], BUSY]);
    const path = cheapestPath(lates, { mostLate: 1, startupWindows: 0 });
    expect(path).toEqual([3, 1, 1, 3]);
  });

  it('never costs more than a constant number of engines that keeps the bound', () => {
    const late = fc.array(fc.nat(9), { minLength: 4, maxLength: 4 }).map((each) => {
      return each.sort((a, b) => b - a).with(3, 0);
    });
    const windows = fc.array(late, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(windows, fc.integer({ min: 0, max: 3 }), (some, startupWindows) => {
        const lates = latesOf(some);
        const path = cheapestPath(lates, { mostLate: 0, startupWindows });
        const lateOf = (engines: number): number => lates[engines - 1]!.reduce((a, b) => a + b);
        const enough = [1, 2, 3, 4].find((engines) => lateOf(engines) === 0)!;
        const starts = path.reduce((sum, engines, i) => {
          return sum + Math.max(0, engines - (path[i - 1] ?? engines)) * startupWindows;
        }, 0);
        const cost = path.reduce((sum, engines) => sum + engines, starts);
        expect(cost).toBeLessThanOrEqual(enough * some.length);
        expect(path.every((engines, i) => some[i]![engines - 1] === 0)).toBe(true);
      }),
    );
  });
});
