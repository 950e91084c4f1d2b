import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AwakeTime } from './awake-time';
import { AdaptiveTimeout } from './adaptive-timeout';

const OPTIONS = { floorMs: 1_800, ceilingMs: 30_000, halfLifeMs: 10_000 };

describe('awake time', () => {
  it('leaves out what exceeds the stride between two readings', () => {
    const awake = new AwakeTime(100);
    expect([0, 50, 120, 2_120, 2_150].map((nowMs) => awake.at(nowMs))).toEqual([
      0, 50, 120, 220, 250,
    ]);
  });

  it('never runs backwards nor faster than the clock', () => {
    const gaps = fc.array(fc.integer({ min: -50, max: 5_000 }), { minLength: 1 });
    fc.assert(
      fc.property(gaps, (steps) => {
        const awake = new AwakeTime(100);
        let nowMs = 0;
        let before = awake.at(nowMs);
        for (const step of steps) {
          nowMs += step;
          const after = awake.at(nowMs);
          expect(after).toBeGreaterThanOrEqual(before);
          expect(after - before).toBeLessThanOrEqual(Math.max(0, Math.min(step, 100)));
          before = after;
        }
      }),
    );
  });
});

describe('an adaptive timeout', () => {
  it('is the floor for a punctual process', () => {
    const timeout = new AdaptiveTimeout(OPTIONS);
    timeout.observe(0, 100);
    expect(timeout.ms(200)).toBe(1_800);
  });

  it('covers three times the worst pause, and decays with awake time', () => {
    const timeout = new AdaptiveTimeout(OPTIONS);
    timeout.observe(2_000, 0);
    timeout.observe(10, 1);
    expect(timeout.ms(1)).toBeGreaterThan(7_700);
    expect(timeout.ms(10_000)).toBe(1_800 + 3_000);
    expect(timeout.ms(1_000_000)).toBe(1_800);
  });

  it('stays between floor and ceiling for any observations', () => {
    const lateness = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(lateness), fc.nat(100_000), (seen, nowMs) => {
        const timeout = new AdaptiveTimeout(OPTIONS);
        seen.forEach((ms, i) => timeout.observe(ms, i));
        const ms = timeout.ms(seen.length + nowMs);
        expect(ms).toBeGreaterThanOrEqual(OPTIONS.floorMs);
        expect(ms).toBeLessThanOrEqual(OPTIONS.ceilingMs);
      }),
    );
  });

  it('grows with each lateness that is worse', () => {
    fc.assert(
      fc.property(fc.nat(9_000), fc.nat(9_000), (a, b) => {
        const [less, more] = [new AdaptiveTimeout(OPTIONS), new AdaptiveTimeout(OPTIONS)];
        less.observe(Math.min(a, b), 0);
        more.observe(Math.max(a, b), 0);
        expect(more.ms(500)).toBeGreaterThanOrEqual(less.ms(500));
      }),
    );
  });
});
