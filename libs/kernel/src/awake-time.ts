/**
 * Time during which a process ran, in ms. Two readings of its clock further apart than `strideMs`
 * show that the process did not run in between; the excess is not counted. A deadline on this time
 * is extended by every pause of the waiting process.
 */
export class AwakeTime {
  private lastMs: number | undefined;
  private awakeMs = 0;

  /**
   * @param strideMs  > 0; the process takes a reading more often than this while it runs. A change
   * holds from the latest reading.
   */
  constructor(public strideMs: number) {}

  /** @param nowMs  a monotonic clock; @returns the awake time up to now */
  at(nowMs: number): number {
    const gapMs = Math.max(0, nowMs - (this.lastMs ?? nowMs));
    this.lastMs = nowMs;
    this.awakeMs += Math.min(gapMs, this.strideMs);
    return this.awakeMs;
  }
}
