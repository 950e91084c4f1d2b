/** Interval of the beats that may be slow while the process has nothing to do. */
export const SLOW_BEAT_MS = 1_000;

/** Beats become slow when nothing has quickened them for this long. */
const QUIET_MS = 5_000;

/** Timers may ring 1 ms early; the current beat must not count as the next. */
const GRAIN_MS = 2;

/** Beats on one timer. A process has one wheel; a test of it has its own. */
export class Wheel {
  isSlow = false;
  private readonly beats = new Set<Beat>();
  private timer: NodeJS.Timeout | undefined;
  private quickenedMs = performance.now();

  add(beat: Beat): void {
    const nowMs = performance.now();
    beat.dueMs = nowMs + msToBeat(beat.intervalMs, nowMs);
    this.beats.add(beat);
    this.arm(nowMs);
  }

  remove(beat: Beat): void {
    if (this.beats.delete(beat)) this.arm();
  }

  readonly quicken = (): void => {
    const nowMs = performance.now();
    this.quickenedMs = nowMs;
    if (!this.isSlow) return;
    this.isSlow = false;
    for (const beat of this.beats)
      beat.dueMs = Math.min(beat.dueMs, nowMs + msToBeat(beat.periodMs, nowMs));
    this.arm(nowMs);
  };

  arm(nowMs = performance.now()): void {
    clearTimeout(this.timer);
    let [firstMs, keepsAlive] = [Infinity, false];
    for (const beat of this.beats) {
      firstMs = Math.min(firstMs, beat.dueMs);
      keepsAlive ||= beat.keepsAlive;
    }
    if (firstMs === Infinity) return;
    this.timer = setTimeout(this.ring, Math.max(1, Math.ceil(firstMs - nowMs)));
    if (!keepsAlive) this.timer.unref();
  }

  private readonly ring = (): void => {
    const nowMs = performance.now();
    this.isSlow = nowMs - this.quickenedMs >= QUIET_MS && this.mayBeSlow();
    const ringing: (readonly [Beat, number])[] = [];
    for (const beat of this.beats) {
      const lateMs = nowMs - beat.dueMs;
      if (lateMs < -GRAIN_MS) continue;
      beat.dueMs = nowMs + msToBeat(beat.intervalMs, nowMs);
      ringing.push([beat, Math.max(0, lateMs)]);
    }
    this.arm(nowMs);
    for (const [beat, lateMs] of ringing) if (this.beats.has(beat)) beat.run(lateMs);
  };

  private mayBeSlow(): boolean {
    for (const { mayBeSlow } of this.beats) if (mayBeSlow?.() === false) return false;
    return true;
  }
}

const WHEEL = new Wheel();

/** Whether the beats of this process that may be slow come once a second now. */
export function areBeatsSlow(): boolean {
  return WHEEL.isSlow;
}

/** Something begins that beats watch over: slow ones come at their own periods again. */
export const { quicken } = WHEEL;

/**
 * Runs something at every multiple of a period on this process's clock. All beats of a process have
 * one timer: those with equal or dividing periods ring together, and what they send leaves in one
 * write. Each process has its own first instant, so that processes do not beat in step.
 *
 * A beat with `mayBeSlow` comes once a second while every such beat of the process allows it and
 * nothing has called `quicken` for five seconds.
 */
export class Beat {
  /** Instant of the next one, by `performance.now()`. */
  dueMs = 0;
  keepsAlive = true;

  constructor(
    readonly periodMs: number,
    readonly run: (lateMs: number) => void,
    readonly mayBeSlow?: () => boolean,
    private readonly wheel = WHEEL,
  ) {
    this.wheel.add(this);
  }

  /** Time between two of them at present. */
  get intervalMs(): number {
    const isSlow = this.wheel.isSlow && this.mayBeSlow !== undefined;
    return isSlow ? Math.max(SLOW_BEAT_MS, this.periodMs) : this.periodMs;
  }

  /** Does not keep the process alive. */
  unref(): this {
    this.keepsAlive = false;
    this.wheel.arm();
    return this;
  }

  stop(): void {
    this.wheel.remove(this);
  }
}

/** Time until the next beat of this period. */
export function msToBeat(periodMs: number, nowMs = performance.now()): number {
  return Math.ceil(periodMs - ((nowMs + GRAIN_MS) % periodMs)) + GRAIN_MS;
}
