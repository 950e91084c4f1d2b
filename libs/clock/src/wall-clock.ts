import { PeriodicTimer } from './timer-wheel';
import { wallUsOf } from './instants';

/**
 * Wall time and its alarms, the live worker's only access to real time. A test drives the same
 * worker with a `ManualWallClock`. All instants are µs since the Unix epoch.
 */
export interface WallClock {
  nowUs(): number;
  /**
   * Runs `ring` once, not before `wallUs`. An instant in the past rings in the next turn of the
   * event loop.
   */
  at(wallUs: number, ring: () => void): Alarm;
  /**
   * Like `at`, up to about 1 ms later: for events that no client sees at that grain. It costs
   * nothing while it waits.
   */
  around(wallUs: number, ring: () => void): Alarm;
  /** Runs `ring` at each tick of a `PeriodicTimer` with this period. */
  onTicks(periodUs: number, ring: () => void, mayBeSlow?: () => boolean): Alarm;
  /** Runs `turn` after the I/O that is ready now has been read. */
  soon(turn: () => void): void;
}

export interface Alarm {
  cancel(): void;
}

/** A timer has this grain, and an alarm sleeps without one for the rest (µs). */
const TIMER_GRAIN_US = 1_000;

/** Longest sleep between two looks at the I/O of the process (µs). */
const NAP_US = 200;

/** A sleep ends later than asked by up to this (µs). */
const OVERSLEEP_US = 70;

/** Never written, so that a wait for a change ends only by its time. */
const NEVER_CHANGES = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * The machine's clock. `setTimeout` has a grain of 1 ms, so an alarm is set up to 1 ms early and
 * takes naps for the rest, in which the thread is asleep. Between two naps it reads what has
 * arrived. An alarm is late by about 0.05 ms at the median instead of 0.7 ms; it costs half as much
 * processor time as one that yields turn by turn.
 */
export class SystemWallClock implements WallClock {
  nowUs(): number {
    return wallUsOf();
  }

  at(wallUs: number, ring: () => void): Alarm {
    return new SystemAlarm(this, wallUs, ring, true);
  }

  around(wallUs: number, ring: () => void): Alarm {
    return new SystemAlarm(this, wallUs, ring, false);
  }

  onTicks(periodUs: number, ring: () => void, mayBeSlow?: () => boolean): Alarm {
    const timer = new PeriodicTimer(periodUs / 1_000, ring, mayBeSlow);
    return { cancel: () => timer.stop() };
  }

  soon(turn: () => void): void {
    setImmediate(turn);
  }
}

class SystemAlarm implements Alarm {
  private timer: NodeJS.Timeout | undefined;
  private turn: NodeJS.Immediate | undefined;

  constructor(
    private readonly clock: WallClock,
    private readonly wallUs: number,
    private readonly ring: () => void,
    private readonly isExact: boolean,
  ) {
    const leftUs = this.leftUs();
    if (!isExact) this.timer = setTimeout(this.look, Math.ceil(Math.max(0, leftUs) / 1_000));
    else if (leftUs < TIMER_GRAIN_US) this.turn = setImmediate(this.look);
    else this.timer = setTimeout(this.look, Math.floor(leftUs / 1_000));
  }

  cancel(): void {
    clearTimeout(this.timer);
    clearImmediate(this.turn);
  }

  private leftUs(): number {
    return this.wallUs - this.clock.nowUs();
  }

  /** A timer counts from the event loop's last reading of the clock, so it may ring too early. */
  private readonly look = (): void => {
    const leftUs = this.leftUs();
    if (leftUs <= 0) return this.ring();
    if (!this.isExact) {
      this.timer = setTimeout(this.look, Math.ceil(leftUs / 1_000));
      return;
    }
    const napUs = Math.min(NAP_US, leftUs - OVERSLEEP_US);
    if (napUs > 0) Atomics.wait(NEVER_CHANGES, 0, 0, napUs / 1_000);
    this.turn = setImmediate(this.look);
  };
}
