/** Period of timers with `mayBeSlow` while the process is idle. */
export const SLOW_PERIOD_MS = 1_000;

/** The process is idle when nothing has called `speedUpTimers` for this long. */
const IDLE_AFTER_MS = 5_000;

/** Node's timers may fire 1 ms early; the current tick must not count as the next. */
const TOLERANCE_MS = 2;

/** Periodic timers on one timer of Node. A process has one wheel; a test has its own. */
export class TimerWheel {
  isSlow = false;
  private readonly timers = new Set<PeriodicTimer>();
  private timer: NodeJS.Timeout | undefined;
  private activeMs = performance.now();

  add(timer: PeriodicTimer): void {
    const nowMs = performance.now();
    timer.dueMs = nowMs + msToTick(timer.intervalMs, nowMs);
    this.timers.add(timer);
    this.arm(nowMs);
  }

  remove(timer: PeriodicTimer): void {
    if (this.timers.delete(timer)) this.arm();
  }

  readonly speedUp = (): void => {
    const nowMs = performance.now();
    this.activeMs = nowMs;
    if (!this.isSlow) return;
    this.isSlow = false;
    for (const timer of this.timers)
      timer.dueMs = Math.min(timer.dueMs, nowMs + msToTick(timer.periodMs, nowMs));
    this.arm(nowMs);
  };

  private arm(nowMs = performance.now()): void {
    clearTimeout(this.timer);
    let firstMs = Infinity;
    for (const timer of this.timers) firstMs = Math.min(firstMs, timer.dueMs);
    if (firstMs === Infinity) return;
    this.timer = setTimeout(this.fire, Math.max(1, Math.ceil(firstMs - nowMs))).unref();
  }

  private readonly fire = (): void => {
    const nowMs = performance.now();
    this.isSlow = nowMs - this.activeMs >= IDLE_AFTER_MS && this.mayBeSlow();
    const due: (readonly [PeriodicTimer, number])[] = [];
    for (const timer of this.timers) {
      const lateMs = nowMs - timer.dueMs;
      if (lateMs < -TOLERANCE_MS) continue;
      timer.dueMs = nowMs + msToTick(timer.intervalMs, nowMs);
      due.push([timer, Math.max(0, lateMs)]);
    }
    this.arm(nowMs);
    for (const [timer, lateMs] of due) if (this.timers.has(timer)) timer.run(lateMs);
  };

  private mayBeSlow(): boolean {
    for (const { mayBeSlow } of this.timers) if (mayBeSlow?.() === false) return false;
    return true;
  }
}

const PROCESS_WHEEL = new TimerWheel();

/** Whether the timers with `mayBeSlow` of this process fire once a second now. */
export function areTimersSlow(): boolean {
  return PROCESS_WHEEL.isSlow;
}

/** Call it when work begins: slow timers fire at their own periods again. */
export const { speedUp: speedUpTimers } = PROCESS_WHEEL;

/**
 * Runs a function at every multiple of a period on the clock of this process. All periodic timers
 * of a process share one timer of Node: those with equal or dividing periods fire together, and
 * their messages leave in one write. Each process has its own first instant, so that processes do
 * not fire in step. They do not keep the process alive.
 *
 * A timer with `mayBeSlow` fires once a second while every such timer of the process allows it and
 * nothing has called `speedUpTimers` for five seconds.
 */
export class PeriodicTimer {
  /** Instant of the next one, by `performance.now()`. */
  dueMs = 0;

  constructor(
    readonly periodMs: number,
    readonly run: (lateMs: number) => void,
    readonly mayBeSlow?: () => boolean,
    private readonly wheel = PROCESS_WHEEL,
  ) {
    this.wheel.add(this);
  }

  /** Time between two of them at present. */
  get intervalMs(): number {
    const isSlow = this.wheel.isSlow && this.mayBeSlow !== undefined;
    return isSlow ? Math.max(SLOW_PERIOD_MS, this.periodMs) : this.periodMs;
  }

  stop(): void {
    this.wheel.remove(this);
  }
}

/** Time until the next tick of this period. */
export function msToTick(periodMs: number, nowMs = performance.now()): number {
  return Math.ceil(periodMs - ((nowMs + TOLERANCE_MS) % periodMs)) + TOLERANCE_MS;
}
