/**
 * Runs something at every multiple of a period on this process's clock. Beats of one process with
 * equal or dividing periods ring together: an idle process wakes once for all of them, and what
 * they send leaves together. Each process has its own first instant, so that processes do not beat
 * in step.
 */
export class Beat {
  private timer: NodeJS.Timeout;
  private dueMs = 0;

  constructor(
    private readonly periodMs: number,
    private readonly run: (lateMs: number) => void,
  ) {
    this.timer = this.arm();
  }

  /** Does not keep the process alive. */
  unref(): this {
    this.timer.unref();
    return this;
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private arm(nowMs = performance.now()): NodeJS.Timeout {
    const waitMs = msToBeat(this.periodMs, nowMs);
    this.dueMs = nowMs + waitMs;
    return setTimeout(this.ring, waitMs);
  }

  private readonly ring = (): void => {
    const [nowMs, wasReferenced] = [performance.now(), this.timer.hasRef()];
    const lateMs = Math.max(0, nowMs - this.dueMs);
    this.timer = this.arm(nowMs);
    if (!wasReferenced) this.timer.unref();
    this.run(lateMs);
  };
}

/** Timers may ring 1 ms early; the current beat must not count as the next. */
const GRAIN_MS = 2;

/** Time until the next beat of this period. */
export function msToBeat(periodMs: number, nowMs = performance.now()): number {
  return Math.ceil(periodMs - ((nowMs + GRAIN_MS) % periodMs)) + GRAIN_MS;
}
