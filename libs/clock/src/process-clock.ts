import { AwakeTime, AdaptiveTimeout } from '@baton/kernel';
import { SharedInstant } from './shared-memory/shared-instant';
import { PeriodicTimer, type TimerWheel } from './timer-wheel';

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

/**
 * Measures the pauses of one process: of its event loop, and of the process when the system does
 * not schedule it. A late process takes longer locks and presences, so that others do not count it
 * as dead. Deadlines count only awake time, so that a process does not count others as dead because
 * of its own pause.
 */
export class ProcessClock {
  /** Updated at each reading, so that other threads can check that the event loop runs. */
  readonly heartbeat = new SharedInstant();
  private readonly awake = new AwakeTime(READ_EVERY_MS + SLACK_MS);
  private readonly timeout: AdaptiveTimeout;
  private readonly readings: PeriodicTimer;
  private readMs = performance.now();
  /** Number of `whileAwaited` under way. */
  private awaited = 0;

  /** @param wheel  for tests; unset: that of the process */
  constructor(
    private readonly times: ProcessClockTimes,
    wheel?: TimerWheel,
  ) {
    this.timeout = new AdaptiveTimeout({
      floorMs: 0,
      ceilingMs: times.lockCeilingMs,
      halfLifeMs: times.latenessHalfLifeMs,
    });
    const isOnTime = (): boolean => this.latenessMs() < LATE_MS;
    this.readings = new PeriodicTimer(READ_EVERY_MS, () => this.awakeMs(), isOnTime, wheel).unref();
  }

  /** Monotonic time, ms; it stops while the process does not run. */
  awakeMs(): number {
    const nowMs = performance.now();
    const awakeMs = this.awake.at(nowMs);
    const pauseMs = nowMs - this.readMs - this.awake.strideMs;
    const intervalMs = this.awaited > 0 ? READ_EVERY_MS : this.readings.intervalMs;
    this.readMs = nowMs;
    this.awake.strideMs = intervalMs + SLACK_MS;
    this.heartbeat.mark(intervalMs - READ_EVERY_MS);
    if (pauseMs > 0) this.timeout.observe(pauseMs, awakeMs);
    return awakeMs;
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

  /** The worst recent pause, which decays by half in each half-life. */
  latenessMs(): number {
    return this.timeout.latenessMs(this.awakeMs());
  }

  /** The length of a lease; `floorMs` for a process that was never late. */
  leaseMs(floorMs: number): number {
    const wantedMs = floorMs + this.timeout.ms(this.awakeMs());
    return Math.max(floorMs, Math.min(this.times.lockCeilingMs, wantedMs));
  }

  stop(): void {
    this.readings.stop();
  }
}
