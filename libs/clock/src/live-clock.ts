import type { Clock, Micros } from '@baton/kernel';
import type { Alarm, WallClock } from './wall-clock';

/**
 * The simulated timeline of one worker on the wall clock: `sim = (wall - origin) * speedup`.
 * Engines and leases use simulated time; everything that crosses a process boundary uses wall time.
 */
export class LiveClock implements Clock {
  readonly originUs: number;

  /** @param speedup simulated seconds per wall second, > 0 */
  constructor(
    readonly wall: WallClock,
    readonly speedup = 1,
    originUs?: number,
  ) {
    this.originUs = originUs ?? wall.nowUs();
  }

  /** Simulated now. */
  nowUs(): Micros {
    return this.toSimUs(this.wall.nowUs());
  }

  toSimUs(wallUs: number): Micros {
    return Math.round((wallUs - this.originUs) * this.speedup);
  }

  toWallUs(simUs: Micros): number {
    return Math.round(this.originUs + simUs / this.speedup);
  }

  /** Rings when the wall clock reaches the simulated instant. */
  atSim(simUs: Micros, ring: () => void): Alarm {
    return this.wall.at(this.toWallUs(simUs), ring);
  }

  /** Like `atSim`, up to about 1 ms of wall time later: see `WallClock.around`. */
  aroundSim(simUs: Micros, ring: () => void): Alarm {
    return this.wall.around(this.toWallUs(simUs), ring);
  }
}
