import { secondsToUs } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Behaviour, DEFAULT_BEHAVIOUR, Stabiliser } from './behaviour';

/** Feeds one recommendation every 15 s; each decision is carried out at once. */
function follow(desired: readonly number[], behaviour: Behaviour, start: number): number[] {
  const stabiliser = new Stabiliser(behaviour);
  let current = start;
  return desired.map((each, tick) => {
    const nowUs = secondsToUs(15 * tick);
    current = stabiliser.normalise(each, { nowUs, current, min: 1, max: 100 });
    return current;
  });
}

function downWithin(windowSeconds: number): Behaviour {
  return { ...DEFAULT_BEHAVIOUR, down: { ...DEFAULT_BEHAVIOUR.down, windowSeconds } };
}

describe('the behaviour of a HorizontalPodAutoscaler', () => {
  it('scales up by the larger of 4 pods and 100 % every 15 s', () => {
    expect(follow([100, 100, 100, 100, 100], DEFAULT_BEHAVIOUR, 1)).toEqual([5, 10, 20, 40, 80]);
  });

  it('scales down to the highest recommendation of the last 300 s', () => {
    const desired = [10, 4, ...Array<number>(19).fill(2)];
    const seen = follow(desired, DEFAULT_BEHAVIOUR, 10);
    expect(seen.slice(0, 20)).toEqual(Array(20).fill(10));
    expect(seen[20]).toBe(4);
  });

  it('keeps the replicas that it begins with for the window, above any demand', () => {
    const seen = follow(Array<number>(22).fill(2), DEFAULT_BEHAVIOUR, 10);
    expect(seen.slice(0, 20)).toEqual(Array(20).fill(10));
    expect(seen.slice(20)).toEqual([2, 2]);
  });

  it('counts the window from the first decision, also one without a metric', () => {
    const stabiliser = new Stabiliser(downWithin(60));
    const at = (seconds: number) => ({ nowUs: secondsToUs(seconds), current: 10, min: 1, max: 20 });
    stabiliser.observe(10, 0);
    stabiliser.observe(10, secondsToUs(45));
    expect(stabiliser.normalise(2, at(45))).toBe(10);
    expect(stabiliser.normalise(2, at(60))).toBe(2);
  });

  it('scales down at once without a window', () => {
    expect(follow([10, 2], downWithin(0), 10)).toEqual([10, 2]);
  });

  it('scales up to the lowest recommendation of its window', () => {
    const up = { ...DEFAULT_BEHAVIOUR.up, windowSeconds: 30 };
    expect(follow([2, 6, 6, 6], { ...DEFAULT_BEHAVIOUR, up }, 2)).toEqual([2, 2, 6, 6]);
  });

  it('adds no more in a period than its policy allows', () => {
    const up = {
      windowSeconds: 0,
      policies: [{ kind: 'pods' as const, value: 2, periodSeconds: 60 }],
    };
    const seen = follow(Array<number>(6).fill(9), { ...DEFAULT_BEHAVIOUR, up }, 1);
    expect(seen).toEqual([3, 3, 3, 3, 5, 5]);
  });

  it('removes no more in a period than its policy allows', () => {
    const policies = [{ kind: 'percent' as const, value: 10, periodSeconds: 60 }];
    const behaviour = { ...DEFAULT_BEHAVIOUR, down: { windowSeconds: 0, policies } };
    // The documentation's example: 80 replicas go to 72, then to 64 or 65.
    expect(follow([10, 10, 10, 10, 10], behaviour, 80)).toEqual([72, 72, 72, 72, 64]);
  });

  it('stays within its bounds for any recommendation', () => {
    const bounds = { min: 2, max: 7 };
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 40 }), (desired) => {
        const stabiliser = new Stabiliser(downWithin(60));
        let current = 3;
        for (const [tick, each] of desired.entries()) {
          const nowUs = secondsToUs(15 * tick);
          current = stabiliser.normalise(each, { nowUs, current, ...bounds });
          expect(current).toBeGreaterThanOrEqual(bounds.min);
          expect(current).toBeLessThanOrEqual(bounds.max);
        }
      }),
    );
  });
});
