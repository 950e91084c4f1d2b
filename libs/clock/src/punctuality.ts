import { AwakeTime, Patience } from '@baton/kernel';
import { SharedInstant } from '@baton/shared-memory';
import { Beat } from './beat';

export interface PunctualityTimes {
  /** Longest lease of a process that has been late. */
  readonly lockCeilingMs: number;
  /** Awake ms in which an observed lateness decays by half. */
  readonly latenessHalfLifeMs: number;
}

/** A running process reads its clock five times a second; each reading wakes an idle one. */
const READ_EVERY_MS = 200;
/** Readings further apart show a pause. It is less than the time between two stalled checks. */
const STRIDE_MS = 300;

/**
 * Measures the pauses of one process: those of its event loop, and those in which the system did
 * not let it run. Leases depend on them: a late process takes longer locks and presences, so that
 * others do not consider it dead. Deadlines depend on them too: they count only awake time, so that
 * a process does not consider others dead because of its own pause.
 */
export class Punctuality {
  /** Updated at each reading, so that other threads can check that the event loop runs. */
  readonly heartbeat = new SharedInstant();
  private readonly awake = new AwakeTime(STRIDE_MS);
  private readonly patience: Patience;
  private readonly readings: Beat;
  private readMs = performance.now();

  constructor(private readonly times: PunctualityTimes) {
    this.patience = new Patience({
      floorMs: 0,
      ceilingMs: times.lockCeilingMs,
      halfLifeMs: times.latenessHalfLifeMs,
    });
    this.readings = new Beat(READ_EVERY_MS, () => this.awakeMs()).unref();
  }

  /** Monotonic time, ms; it stops while the process does not run. */
  awakeMs(): number {
    const nowMs = performance.now();
    const awakeMs = this.awake.at(nowMs);
    const gapMs = nowMs - this.readMs;
    this.readMs = nowMs;
    this.heartbeat.mark();
    if (gapMs > STRIDE_MS) this.patience.observe(gapMs - STRIDE_MS, awakeMs);
    return awakeMs;
  }

  /** The worst recent pause, which decays by half in each half-life. */
  latenessMs(): number {
    return this.patience.latenessMs(this.awakeMs());
  }

  /** The length of a lease; `floorMs` for a punctual process. */
  leaseMs(floorMs: number): number {
    const wantedMs = floorMs + this.patience.ms(this.awakeMs());
    return Math.max(floorMs, Math.min(this.times.lockCeilingMs, wantedMs));
  }

  stop(): void {
    this.readings.stop();
  }
}
