import { PeriodicTimer, type TimerWheel } from '../timer-wheel';

export interface ProcessClockTimes {
  /** Longest lease of a process that has been late. */
  readonly lockCeilingMs: number;
  /** Awake ms in which an observed lateness decays by half. */
  readonly latenessHalfLifeMs: number;
}

/** A running process reads its clock five times a second, and once a second while it is idle. */
const READ_EVERY_MS = 200;
/**
 * Readings that are further apart than their interval and this show a pause. With the interval of a
 * process that is not idle it is less than the time between two stalled checks.
 */
const SLACK_MS = 100;
/** Interval of readings while an answer is awaited; shorter than a stride. */
const AWAITING_EVERY_MS = 250;
/** A process with a recent lateness above this is not idle. */
const LATE_MS = 50;
/** A pause of this many times the worst recent one is still tolerated. */
const MARGIN = 3;
/** The worst lag counts for once or twice this time, which is longer than a scraper's interval. */
const LAG_WINDOW_MS = 30_000;
/** A late process answers within this many times the lateness of both sides. */
const ANSWER_MARGIN = 5;
/** A process that does not answer is asked at most this often in addition. */
const MOST_MORE_TRIES = 30;

/**
 * Measures the pauses of one process: of its event loop, and of the process when the system does
 * not schedule it. A late process takes longer locks and presences, so that others do not count it
 * as dead. Deadlines count only awake time, so that a process does not count others as dead because
 * of its own pause.
 *
 * The lateness is the worst recent pause. (Phi-accrual detectors, Hayashibara et al. 2004, fit a
 * distribution to the same observations. The pauses of a starved process have two values, so their
 * maximum says more than their mean.)
 */
export class ProcessClock {
  private readonly readings: PeriodicTimer;
  private readonly lagWindows: PeriodicTimer;
  /** The worst lag of the timers in this window of time, and in the last one. */
  private lagMs = [0, 0];
  private readMs = performance.now();
  /** Awake time at the latest reading. */
  private ranMs = 0;
  /** The process takes the next reading within this time while it runs. */
  private strideMs = READ_EVERY_MS + SLACK_MS;
  private worstMs = 0;
  /** Awake time of the worst pause. */
  private worstAtMs = 0;
  /** Number of `whileAwaited` under way. */
  private awaited = 0;

  /** @param wheel  for tests; unset: that of the process */
  constructor(
    private readonly times: ProcessClockTimes,
    wheel?: TimerWheel,
  ) {
    const isOnTime = (): boolean => this.latenessMs() < LATE_MS;
    const read = (lateMs: number): void => {
      this.lagMs[0] = Math.max(lateMs, this.lagMs[0]!);
      this.awakeMs();
    };
    const turnWindow = (): void => void (this.lagMs = [0, this.lagMs[0]!]);
    this.readings = new PeriodicTimer(READ_EVERY_MS, read, isOnTime, wheel);
    this.lagWindows = new PeriodicTimer(LAG_WINDOW_MS, turnWindow, undefined, wheel);
  }

  /** Monotonic time, ms; it stops while the process does not run. */
  awakeMs(): number {
    const nowMs = performance.now();
    const gapMs = Math.max(0, nowMs - this.readMs);
    const pauseMs = Math.max(0, gapMs - this.strideMs);
    const intervalMs = this.awaited > 0 ? READ_EVERY_MS : this.readings.intervalMs;
    this.readMs = nowMs;
    this.strideMs = intervalMs + SLACK_MS;
    this.ranMs += gapMs - pauseMs;
    if (pauseMs > 0) {
      this.worstMs = Math.max(pauseMs, this.decayedMs());
      this.worstAtMs = this.ranMs;
    }
    return this.ranMs;
  }

  /**
   * Waits for an answer in awake time. Until then it also reads the clock of an idle process often
   * enough to see each pause.
   *
   * @param leftMs  of the present awake time and that of the call; when it is 0 or less, `expire`
   * runs
   * @returns the end of the wait, which answers the awake time
   */
  whileAwaited(
    leftMs: (awakeMs: number, beganMs: number) => number,
    expire: () => void,
  ): () => number {
    this.awaited += 1;
    const beganMs = this.awakeMs();
    const check = (): void => {
      const waitMs = leftMs(this.awakeMs(), beganMs);
      if (waitMs <= 0) expire();
      else timer = setTimeout(check, Math.min(AWAITING_EVERY_MS, Math.ceil(waitMs)));
    };
    let timer = setTimeout(check, AWAITING_EVERY_MS);
    return () => {
      clearTimeout(timer);
      this.awaited -= 1;
      return this.awakeMs();
    };
  }

  /** The worst recent pause, ms, which decays by half in each half-life of awake time. */
  latenessMs(): number {
    this.awakeMs();
    return this.decayedMs();
  }

  /** How late the event loop was at most in the last 30 to 60 s, ms. */
  loopLagMs(): number {
    return Math.max(...this.lagMs);
  }

  /** The length of a lease, whole ms; `floorMs` for a process that was never late. */
  leaseMs(floorMs: number): number {
    const wantedMs = Math.min(this.times.lockCeilingMs, floorMs + MARGIN * this.latenessMs());
    return Math.round(Math.max(floorMs, wantedMs));
  }

  /**
   * How often another process is asked again before it counts as dead, from 0 to 30 times: more
   * often when it or this process was late.
   *
   * @param otherMs  the lateness that the other process has published
   * @param tryMs  how long each question waits for its answer
   */
  moreTries(otherMs: number, tryMs: number): number {
    return Math.min(MOST_MORE_TRIES, (ANSWER_MARGIN * (otherMs + this.latenessMs())) / tryMs);
  }

  stop(): void {
    this.readings.stop();
    this.lagWindows.stop();
  }

  private decayedMs(): number {
    return this.worstMs * 0.5 ** ((this.ranMs - this.worstAtMs) / this.times.latenessHalfLifeMs);
  }
}
