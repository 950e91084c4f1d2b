import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LiveClock } from './live-clock';
import { ManualWallClock } from '../test/manual-wall-clock';
import { SystemWallClock } from './wall-clock';

describe('the live clock', () => {
  it('starts its simulated timeline at 0 and runs it at speedup', async () => {
    const wall = new ManualWallClock();
    const clock = new LiveClock(wall, 10);
    expect(clock.nowUs()).toBe(0);
    await wall.advance(1_500);
    expect(clock.nowUs()).toBe(15_000);
  });

  it('maps an instant there and back within the grain of a microsecond', () => {
    const clock = new LiveClock(new ManualWallClock(), 1);
    const span = fc.integer({ min: 0, max: 1e12 });
    fc.assert(
      fc.property(span, fc.double({ min: 0.01, max: 1_000, noNaN: true }), (us, speedup) => {
        const scaled = new LiveClock(clock.wall, speedup, clock.originUs);
        const back = scaled.toSimUs(scaled.toWallUs(us));
        return Math.abs(back - us) <= Math.max(1, speedup);
      }),
    );
  });

  it('rings when the wall reaches the simulated instant', async () => {
    const wall = new ManualWallClock();
    const clock = new LiveClock(wall, 4);
    let rungUs = 0;
    clock.atSim(8_000, () => (rungUs = clock.nowUs()));
    await wall.advance(10_000);
    expect(rungUs).toBe(8_000);
  });
});

describe('the machine clock', () => {
  const wall = new SystemWallClock();

  it.each([0, 1_500, 6_300])('does not ring before its time, %i µs away', async (distanceUs) => {
    const dueUs = wall.nowUs() + distanceUs;
    const rungUs = await Promise.all([
      new Promise<number>((resolve) => wall.at(dueUs, () => resolve(wall.nowUs()))),
      new Promise<number>((resolve) => wall.around(dueUs, () => resolve(wall.nowUs()))),
    ]);
    expect(Math.min(...rungUs)).toBeGreaterThanOrEqual(dueUs);
  });

  it('does not ring too early when a long turn of the event loop comes before', async () => {
    const early: boolean[] = [];
    const rung = [1, 2, 3, 4].map((ms) => {
      return new Promise<void>((resolve) => {
        setImmediate(() => {
          // The event loop looked at the clock before this.
          const until = performance.now() + 3;
          while (performance.now() < until);
          const dueUs = wall.nowUs() + ms * 1_000;
          wall.around(dueUs, () => {
            early.push(wall.nowUs() < dueUs);
            resolve();
          });
        });
      });
    });
    await Promise.all(rung);
    expect(early).toEqual([false, false, false, false]);
  });

  it('does not ring once cancelled', async () => {
    const rung: string[] = [];
    const nowUs = wall.nowUs();
    wall.at(nowUs + 1_000, () => rung.push('cancelled')).cancel();
    wall.at(nowUs, () => rung.push('cancelled too')).cancel();
    await new Promise<void>((resolve) => wall.at(nowUs + 5_000, resolve));
    expect(rung).toEqual([]);
  });
});
