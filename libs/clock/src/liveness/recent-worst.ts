/** Length of a window, ms: longer than the interval of any scraper. */
const WINDOW_MS = 30_000;

/**
 * The largest value of the last 30 to 60 s. It keeps two windows of time and is never reset by a
 * reader, so that several readers see the same value.
 */
export class RecentWorst {
  private window = 0;
  private current = 0;
  private previous = 0;

  note(value: number, nowMs: number): void {
    this.advance(nowMs);
    this.current = Math.max(this.current, value);
  }

  /** 0 when there was no value. */
  at(nowMs: number): number {
    this.advance(nowMs);
    return Math.max(this.current, this.previous);
  }

  private advance(nowMs: number): void {
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window === this.window) return;
    this.previous = window === this.window + 1 ? this.current : 0;
    this.current = 0;
    this.window = window;
  }
}
