export interface AdaptiveTimeoutOptions {
  /** Wait for a process that was never late, ms. */
  readonly floorMs: number;
  /** Longest wait, ms; at least the floor. */
  readonly ceilingMs: number;
  /** Awake ms in which an observed lateness decays by half. */
  readonly halfLifeMs: number;
}

/** A pause of this many times the worst recent one is still tolerated. */
const MARGIN = 3;

/**
 * The time to wait for a process before it counts as dead, from its lateness: the floor plus three
 * times the worst lateness, which decays by half in each half-life, up to the ceiling. (Phi-accrual
 * detectors, Hayashibara et al. 2004, fit a distribution to the same observations. The pauses of a
 * starved process have two values, so their maximum says more than their mean.)
 */
export class AdaptiveTimeout {
  private worstMs = 0;
  private atMs = 0;

  constructor(private readonly options: AdaptiveTimeoutOptions) {}

  /**
   * @param nowMs awake time, as `AwakeTime` counts it, so that lateness does not decay during a
   * pause
   */
  observe(latenessMs: number, nowMs: number): void {
    this.worstMs = Math.max(latenessMs, this.latenessMs(nowMs));
    this.atMs = nowMs;
  }

  /** The worst lateness, decayed; 0 for a process that was never late. */
  latenessMs(nowMs: number): number {
    const ageMs = Math.max(0, nowMs - this.atMs);
    return this.worstMs * 0.5 ** (ageMs / this.options.halfLifeMs);
  }

  ms(nowMs: number): number {
    const { floorMs, ceilingMs } = this.options;
    const wantedMs = floorMs + MARGIN * this.latenessMs(nowMs);
    return Math.round(Math.max(floorMs, Math.min(ceilingMs, wantedMs)));
  }
}
