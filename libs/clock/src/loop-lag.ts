import { PeriodicTimer } from './timer-wheel';
import { RecentWorst } from './recent-worst';

/**
 * Interval of samples in ms: that of the fastest periodic timer, so that no sample wakes an idle
 * process.
 */
const LAG_SAMPLING_MS = 200;

/**
 * The lateness of this process's timers: the part of every live latency that is due neither to the
 * simulation nor to the broker.
 */
export class LoopLag {
  private readonly worst = new RecentWorst();
  private timer: PeriodicTimer | undefined;

  start(): void {
    const note = (lateMs: number): void => this.worst.note(lateMs, performance.now());
    this.timer = new PeriodicTimer(LAG_SAMPLING_MS, note, () => true).unref();
  }

  /** The largest in ms of the last 30 to 60 s; 0 before the first sample. */
  worstMs(): number {
    return this.worst.at(performance.now());
  }

  stop(): void {
    this.timer?.stop();
  }
}
