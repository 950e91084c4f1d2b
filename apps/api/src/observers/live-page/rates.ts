import { areTooLate, IntervalHistogram, type PlainHistogram } from '@baton/analysis';
import type { LateFigure, PictureRates, Quantiles } from '@baton/contract';

/** Counts of one API process in the last second: plain values that other processes can send. */
export interface RateFacts {
  /** Length of the time counted, simulated. */
  readonly seconds: number;
  readonly ttft: PlainHistogram;
  readonly itl: PlainHistogram;
  /** Both without the time between a token's stamp and its arrival. */
  readonly stampedTtft: PlainHistogram;
  readonly stampedItl: PlainHistogram;
  readonly tokens: number;
  /** The part of `tokens` that came too late after the end of its step. */
  readonly late: number;
  readonly arrived: number;
  readonly finished: number;
  /** Requests refused for lack of capacity, by error code. */
  readonly refused: readonly (readonly [code: string, count: number])[];
  /** The worst recent pause of the process; 0 when it is shorter than `starved_after`. */
  readonly starvedMs: number;
}

/** A change of a latency that a reader would take for another result. */
const CHANGE_SHARE = 0.1;

/** The rates of all API processes of a port together. */
export function pictureRatesOf(parts: readonly RateFacts[]): PictureRates {
  const sumOf = (value: (part: RateFacts) => number): number =>
    parts.reduce((sum, part) => sum + value(part), 0);
  const perSecond = (value: (part: RateFacts) => number): number =>
    sumOf((part) => (part.seconds > 0 ? value(part) / part.seconds : 0));
  const [tokens, late] = [sumOf((part) => part.tokens), sumOf((part) => part.late)];
  const refusals = refusalsOf(parts, perSecond);
  const apiStarvedMs = Math.max(0, ...parts.map(({ starvedMs }) => starvedMs));
  const ttftMs = quantiles(parts.map(({ ttft }) => ttft));
  const itlMs = quantiles(parts.map(({ itl }) => itl));
  const lateFigures = areTooLate(late, tokens)
    ? [
        ...changed('ttft', ttftMs, quantiles(parts.map(({ stampedTtft }) => stampedTtft))),
        ...changed('itl', itlMs, quantiles(parts.map(({ stampedItl }) => stampedItl))),
      ]
    : [];
  return {
    ttftMs,
    itlMs,
    tokensPerSecond: perSecond((part) => part.tokens),
    requestsPerSecond: perSecond(({ arrived }) => arrived),
    finishedPerSecond: perSecond(({ finished }) => finished),
    refusedPerSecond: refusals.reduce((sum, part) => sum + part.perSecond, 0),
    refusals,
    ...(lateFigures.length > 0 ? { lateShare: late / tokens, lateFigures } : {}),
    ...(apiStarvedMs > 0 ? { apiStarvedMs } : {}),
  };
}

/** The quantiles that lateness changes. */
function changed(
  name: 'ttft' | 'itl',
  seen: Quantiles | null,
  stamped: Quantiles | null,
): LateFigure[] {
  if (seen === null || stamped === null) return [];
  return (['p50', 'p99'] as const)
    .filter((at) => Math.abs(seen[at] - stamped[at]) > CHANGE_SHARE * stamped[at])
    .map((at): LateFigure => `${name} ${at}`);
}

function refusalsOf(
  parts: readonly RateFacts[],
  perSecond: (value: (part: RateFacts) => number) => number,
): PictureRates['refusals'] {
  const codes = new Set(parts.flatMap(({ refused }) => refused.map(([code]) => code)));
  const countOf = ({ refused }: RateFacts, code: string): number =>
    refused.find(([one]) => one === code)?.[1] ?? 0;
  return [...codes]
    .map((code) => ({ code, perSecond: perSecond((part) => countOf(part, code)) }))
    .sort((a, b) => b.perSecond - a.perSecond);
}

function quantiles(histograms: readonly PlainHistogram[]): Quantiles | null {
  const all = new IntervalHistogram();
  for (const each of histograms) if (each.count > 0) all.merge(IntervalHistogram.fromPlain(each));
  if (all.count === 0) return null;
  const [p50 = 0, p99 = 0] = all.quantilesUs([0.5, 0.99]);
  return { p50: p50 / 1_000, p99: p99 / 1_000 };
}
