import { createHistogram } from 'node:perf_hooks';
import { Beat } from './beat';

/** Interval of samples in ms: that of the fastest beat, so that no sample wakes an idle process. */
const LAG_SAMPLING_MS = 200;
const NS_PER_MS = 1e6;

/**
 * The lateness of this process's timers: the part of every live latency that is due neither to the
 * simulation nor to the broker.
 */
export class LoopLag {
  private readonly histogram = createHistogram();
  private beat: Beat | undefined;

  start(): void {
    // The smallest value of a histogram is 1 ns.
    const note = (lateMs: number): void =>
      this.histogram.record(1 + Math.round(lateMs * NS_PER_MS));
    this.beat = new Beat(LAG_SAMPLING_MS, note, () => true).unref();
  }

  /** The 99th percentile in ms since the last call; 0 before the first sample. */
  takeP99Ms(): number {
    const delayMs = this.histogram.count === 0 ? 0 : this.histogram.percentile(99) / NS_PER_MS;
    this.histogram.reset();
    return delayMs;
  }

  stop(): void {
    this.beat?.stop();
  }
}
