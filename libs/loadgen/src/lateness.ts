import { monitorEventLoopDelay } from 'node:perf_hooks';
import { areTooLate, type Delay, IntervalHistogram, LATE_MS, type Lateness } from '@baton/analysis';
import { figuresOf, type LateVerdict, withVerdicts } from './late-verdict';

/** Interval of samples of the event loop's delay; it is subtracted from them. */
const SAMPLING_MS = 5;
const NS_PER_MS = 1e6;
const US_PER_MS = 1_000;

/** Measures the generator's deviation from its schedule. */
export class LatenessMeter {
  private readonly lag = new IntervalHistogram();
  private readonly loop = monitorEventLoopDelay({ resolution: SAMPLING_MS });
  private cpu = process.cpuUsage();
  private startMs = performance.now();

  start(): void {
    this.loop.enable();
    this.loop.reset();
    this.cpu = process.cpuUsage();
    this.startMs = performance.now();
  }

  sentLate(ms: number): void {
    this.lag.add(Math.max(0, Math.round(ms * US_PER_MS)));
  }

  take(): Lateness {
    this.loop.disable();
    const { user, system } = process.cpuUsage(this.cpu);
    const spentMs = Math.max(1e-3, performance.now() - this.startMs);
    const [p50 = 0, p99 = 0, max = 0] = this.lag.count === 0 ? [] : this.lagMs();
    const loop = {
      p50: this.loopMs(this.loop.percentile(50)),
      p99: this.loopMs(this.loop.percentile(99)),
      max: this.loopMs(this.loop.max),
    };
    const measured = {
      schedule_lag_ms: { p50, p99, max },
      event_loop_delay_ms: loop,
      cpu_share: rounded((user + system) / US_PER_MS / spentMs),
    };
    return withVerdicts(measured, this.verdicts(loop));
  }

  /**
   * Requests that are sent late meet another load than the requested one, and so wait for another
   * time. Late stamps change single gaps, and hardly a mean over all tokens of a request.
   */
  private verdicts(loop: Delay): LateVerdict[] {
    const verdicts: LateVerdict[] = [];
    const late = this.lag.count - this.lag.countUpTo(LATE_MS * US_PER_MS);
    if (areTooLate(late, this.lag.count)) {
      verdicts.push({
        reason: `${late} of ${this.lag.count} requests were sent more than ${LATE_MS} ms late`,
        figures: figuresOf({ late, all: this.lag.count }, ['ttft', 'e2el'], ['throughput']),
      });
    }
    if (loop.p99 > LATE_MS) {
      const lateMs = Number(loop.p99.toPrecision(3));
      verdicts.push({
        reason: `events may have been stamped ${lateMs} ms late (p99), more than ${LATE_MS} ms`,
        figures: ['ttft', 'itl', 'e2el'],
      });
    }
    return verdicts;
  }

  private lagMs(): number[] {
    return this.lag.quantilesUs([0.5, 0.99, 1]).map((us) => rounded(us / US_PER_MS));
  }

  /** A run shorter than the sampling has no sample, and no delay. */
  private loopMs(ns: number): number {
    return this.loop.count === 0 ? 0 : rounded(Math.max(0, ns / NS_PER_MS - SAMPLING_MS));
  }
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
