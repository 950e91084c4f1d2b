/**
 * An instant that two threads of a process share. Their `performance.now()` have different origins,
 * so it is kept by the system's monotonic clock.
 */
export class SharedInstant {
  /** @param cell  the other thread's cell; absent for the first thread */
  constructor(readonly cell = new BigInt64Array(new SharedArrayBuffer(8))) {}

  /** Sets it to now, or to a later instant. */
  mark(aheadMs = 0): void {
    const aheadNs = aheadMs === 0 ? 0n : BigInt(Math.round(aheadMs * 1e6));
    Atomics.store(this.cell, 0, process.hrtime.bigint() + aheadNs);
  }

  /** Time since the latest mark, negative before its instant; infinite before the first one. */
  ageMs(): number {
    const markedNs = Atomics.load(this.cell, 0);
    return markedNs === 0n ? Infinity : Number(process.hrtime.bigint() - markedNs) / 1e6;
  }
}
