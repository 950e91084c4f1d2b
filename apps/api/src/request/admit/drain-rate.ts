const BUCKET_MS = 1_000;
const BUCKETS = 10;

/** How many requests left a queue per second, over the last ten seconds. */
export class DrainRate {
  private readonly counts = new Float64Array(BUCKETS);
  private newest = 0;
  private firstMs: number | undefined;

  add(count: number, nowMs: number): void {
    this.firstMs ??= nowMs;
    this.roll(nowMs);
    this.counts[this.newest % BUCKETS] = (this.counts[this.newest % BUCKETS] ?? 0) + count;
  }

  perSecond(nowMs: number): number {
    if (this.firstMs === undefined) return 0;
    this.roll(nowMs);
    const spanMs = Math.min(Math.max(nowMs - this.firstMs, BUCKET_MS), BUCKETS * BUCKET_MS);
    return (this.counts.reduce((sum, count) => sum + count, 0) * 1_000) / spanMs;
  }

  private roll(nowMs: number): void {
    const bucket = Math.floor(nowMs / BUCKET_MS);
    const from = Math.max(this.newest + 1, bucket - BUCKETS + 1);
    for (let each = from; each <= bucket; each += 1) this.counts[each % BUCKETS] = 0;
    this.newest = Math.max(this.newest, bucket);
  }
}
