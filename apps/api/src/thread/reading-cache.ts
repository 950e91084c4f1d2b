import { workSpent } from '@baton/kernel';

/**
 * Number of requests kept between their tasks. The next task of a request can still go to another
 * thread.
 */
const MAX_KEPT = 8;
/** Bytes of their bodies, and units of `spendWork` for them: some 100 MB of the heap together. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_WORK = 500_000;

interface Kept<Read> {
  readonly read: Read;
  readonly bytes: number;
  readonly work: number;
}

/**
 * The results of reading the latest requests, by ticket. The memory of the current request must not
 * depend on the earlier ones, so the cost of all results together is limited.
 */
export class ReadingCache<Read> {
  private readonly readings = new Map<number, Kept<Read>>();

  get(ticket: number): Read | undefined {
    return this.readings.get(ticket)?.read;
  }

  /** @param bytes length of the body */
  add(ticket: number, bytes: number, make: () => Read): Read {
    const before = workSpent();
    const read = make();
    this.readings.set(ticket, { read, bytes, work: workSpent() - before });
    this.forgetOldest();
    return read;
  }

  delete(ticket: number): void {
    this.readings.delete(ticket);
  }

  private forgetOldest(): void {
    const all = [...this.readings.values()];
    let bytes = all.reduce((sum, one) => sum + one.bytes, 0);
    let work = all.reduce((sum, one) => sum + one.work, 0);
    for (const [ticket, one] of this.readings) {
      const isLittle = bytes <= MAX_BYTES && work <= MAX_WORK && this.readings.size <= MAX_KEPT;
      // The last one has tasks to come.
      if (isLittle || this.readings.size === 1) return;
      this.readings.delete(ticket);
      bytes -= one.bytes;
      work -= one.work;
    }
  }
}
