const WINDOW = 256;

/** How late the last 256 steps ended, in wall µs. */
export class LagWindow {
  private readonly lagsUs = new Float64Array(WINDOW);
  private seen = 0;

  observe(lagUs: number): void {
    this.lagsUs[this.seen % WINDOW] = lagUs;
    this.seen += 1;
  }

  /** 0 before the first step. */
  p99Us(): number {
    const filled = Math.min(this.seen, WINDOW);
    if (filled === 0) return 0;
    const sorted = this.lagsUs.slice(0, filled).sort();
    return Math.max(0, sorted[Math.ceil(filled * 0.99) - 1] ?? 0);
  }
}
