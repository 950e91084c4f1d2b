import type { PictureRates } from '@baton/contract';

export const WINDOW_S = 120;
/** Minimum width of a chart, in seconds. */
export const LEAST_S = 30;

export type LineKey = 'ttft50' | 'ttft99' | 'itl50' | 'itl99' | 'tokens' | 'arrived' | 'finished';
/** `late` is the share of late tokens, where so many void the latencies. */
export type RateKey = LineKey | 'late';
type Sample = Readonly<Record<RateKey, number | null>>;

/**
 * The rates of the last two minutes in the form of a chart: oldest first, in seconds before now.
 */
export class RateHistory {
  private readonly samples: { readonly atMs: number; readonly sample: Sample }[] = [];

  add(atMs: number, rates: PictureRates): void {
    const { ttftMs, itlMs, tokensPerSecond, requestsPerSecond, finishedPerSecond } = rates;
    const sample = {
      ttft50: ttftMs?.p50 ?? null,
      ttft99: ttftMs?.p99 ?? null,
      itl50: itlMs?.p50 ?? null,
      itl99: itlMs?.p99 ?? null,
      tokens: tokensPerSecond,
      arrived: requestsPerSecond,
      finished: finishedPerSecond,
      late: rates.lateShare ?? null,
    };
    this.samples.push({ atMs, sample });
    while ((this.samples[0]?.atMs ?? atMs) < atMs - WINDOW_S * 1_000) this.samples.shift();
  }

  /** Seconds with samples, at most those of a chart. */
  get spanS(): number {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    const span = first && last ? (last.atMs - first.atMs) / 1_000 : 0;
    return Math.min(WINDOW_S, Math.max(LEAST_S, span));
  }

  clear(): void {
    this.samples.length = 0;
  }

  /** Seconds before the newest sample, then one column per key. */
  columns(keys: readonly RateKey[]): (number | null)[][] {
    const nowMs = this.samples.at(-1)?.atMs ?? 0;
    const xs = this.samples.map(({ atMs }) => (atMs - nowMs) / 1_000);
    return [xs, ...keys.map((key) => this.samples.map(({ sample }) => sample[key]))];
  }
}
