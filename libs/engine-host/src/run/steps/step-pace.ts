import { type Micros } from '@baton/kernel';

const WINDOW = 256;

/** Length of the last step, and lateness of the last 256 steps. */
export class StepPace {
  private readonly lagsUs = new Float64Array(WINDOW);
  private seen = 0;
  /** Simulated length of the last step; 0 before the first. */
  stepUs: Micros = 0;

  /** @param lagUs  wall µs between the step's logical end and its real one */
  observe(stepUs: Micros, lagUs: number): void {
    this.stepUs = stepUs;
    this.lagsUs[this.seen % WINDOW] = lagUs;
    this.seen += 1;
  }

  /** 99th percentile, wall µs; 0 before the first step. */
  p99LagUs(): number {
    const filled = Math.min(this.seen, WINDOW);
    if (filled === 0) return 0;
    const sorted = this.lagsUs.slice(0, filled).sort();
    return Math.max(0, sorted[Math.ceil(filled * 0.99) - 1] ?? 0);
  }
}
