import { Beat } from './beat';
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
  /** Runs `ring` at each `Beat` of this period. */
  onBeats(periodUs: number, ring: () => void, mayBeSlow?: () => boolean): Alarm;
  /** Runs `turn` after the I/O that is ready now has been read. */
  soon(turn: () => void): void;
}

export interface Alarm {
  cancel(): void;
}

/**
 * Below this distance an alarm uses only the timer, so that short steps never turn into a busy
 * loop.
 */
const SHORTEST_PRECISE_SLEEP_US = 4_000;

/**
 * The machine's clock. `setTimeout` has a grain of 1 ms, so a longer sleep ends up to 1 ms early
 * and yields turn by turn for the rest: late by 0.01 ms at the median instead of 0.7 ms, for about
 * 2 % of a core at 20 ms steps.
 */
export class SystemWallClock implements WallClock {
  nowUs(): number {
    return wallUsOf();
  }

  at(wallUs: number, ring: () => void): Alarm {
    return new SystemAlarm(this, wallUs, ring);
  }

  around(wallUs: number, ring: () => void): Alarm {
    return new RoughAlarm(this, wallUs, ring);
  }

  onBeats(periodUs: number, ring: () => void, mayBeSlow?: () => boolean): Alarm {
    const beat = new Beat(periodUs / 1_000, ring, mayBeSlow);
    return { cancel: () => beat.stop() };
  }

  soon(turn: () => void): void {
    setImmediate(turn);
  }
}

/** A timer counts from the event loop's last reading of the clock, so it may ring too early. */
class RoughAlarm implements Alarm {
  private timer: NodeJS.Timeout;

  constructor(
    private readonly clock: WallClock,
    private readonly wallUs: number,
    private readonly ring: () => void,
  ) {
    this.timer = this.arm();
  }

  cancel(): void {
    clearTimeout(this.timer);
  }

  private arm(): NodeJS.Timeout {
    const leftUs = Math.max(0, this.wallUs - this.clock.nowUs());
    return setTimeout(this.look, Math.ceil(leftUs / 1_000));
  }

  private readonly look = (): void => {
    if (this.clock.nowUs() >= this.wallUs) this.ring();
    else this.timer = this.arm();
  };
}

class SystemAlarm implements Alarm {
  private timer: NodeJS.Timeout | undefined;
  private turn: NodeJS.Immediate | undefined;

  constructor(
    private readonly clock: WallClock,
    private readonly wallUs: number,
    private readonly ring: () => void,
  ) {
    const distanceUs = wallUs - clock.nowUs();
    if (distanceUs <= 0) {
      this.turn = setImmediate(ring);
    } else if (distanceUs < SHORTEST_PRECISE_SLEEP_US) {
      this.timer = setTimeout(this.yieldUntilDue, Math.ceil(distanceUs / 1_000));
    } else {
      this.timer = setTimeout(this.yieldUntilDue, Math.floor(distanceUs / 1_000));
    }
  }

  cancel(): void {
    clearTimeout(this.timer);
    clearImmediate(this.turn);
  }

  private readonly yieldUntilDue = (): void => {
    if (this.clock.nowUs() >= this.wallUs) this.ring();
    else this.turn = setImmediate(this.yieldUntilDue);
  };
}
