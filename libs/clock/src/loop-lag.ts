import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

/**
 * Interval of samples in ms. Each sample wakes the process, also when it has nothing to do. At 50
 * ms, this histogram and prom-client's made 40 of 45 idle wake-ups a second.
 */
const LAG_SAMPLING_MS = 200;

/**
 * How late this process's event loop runs its timers; the part of every live latency that is
 * neither simulated nor the broker's.
 */
export class LoopLag {
  private readonly histogram: IntervalHistogram = monitorEventLoopDelay({
    resolution: LAG_SAMPLING_MS,
  });

  start(): void {
    this.histogram.enable();
  }

  /**
   * The 99th percentile in ms since the last call, less the sampling interval; 0 before the first
   * sample.
   */
  takeP99Ms(): number {
    const delayMs = this.histogram.percentile(99) / 1e6;
    this.histogram.reset();
    return Math.max(0, delayMs - LAG_SAMPLING_MS);
  }

  stop(): void {
    this.histogram.disable();
  }
}
