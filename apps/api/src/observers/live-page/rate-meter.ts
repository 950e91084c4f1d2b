import { areTooLate, IntervalHistogram, LATE_MS } from '@baton/analysis';
import type { BatonConfig } from '@baton/config';
import type { BatonError, ErrorCode, PictureRates, Quantiles } from '@baton/contract';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '../../tokens';
import type {
  ObservedCall,
  ObservedRequest,
  ObservedSequence,
  RequestObserver,
  TokenNews,
} from '../port/port';

/** Slots of the window over which rates are measured; one ends with each picture. */
const SLOTS = 4;
/** Statuses of requests that the cluster cannot take now; other statuses mean a faulty request. */
const OVERLOAD: ReadonlySet<number> = new Set([429, 503]);

class Slot {
  ttft = new IntervalHistogram();
  itl = new IntervalHistogram();
  tokens = 0;
  late = 0;
  arrived = 0;
  finished = 0;
  refused = new Map<ErrorCode, number>();
  startMs = 0;

  begin(nowMs: number): void {
    this.ttft = new IntervalHistogram();
    this.itl = new IntervalHistogram();
    this.tokens = 0;
    this.late = 0;
    this.arrived = 0;
    this.finished = 0;
    this.refused = new Map();
    this.startMs = nowMs;
  }
}

/**
 * Latencies and throughput of this process's requests over the last second, in simulated time. It
 * is on only while a live page is open.
 */
@Injectable()
export class RateMeter implements RequestObserver {
  isOn = false;
  private readonly slots = Array.from({ length: SLOTS }, () => new Slot());
  private at = 0;
  private readonly speedup: number;

  constructor(@Inject(CONFIG) { speedup }: BatonConfig) {
    this.speedup = speedup;
  }

  switchOn(nowMs: number): void {
    this.isOn = true;
    for (const slot of this.slots) slot.begin(nowMs);
  }

  switchOff(): void {
    this.isOn = false;
  }

  refused(_call: ObservedCall, { code, entry }: BatonError): void {
    const { refused } = this.slot;
    if (OVERLOAD.has(entry.status)) refused.set(code, (refused.get(code) ?? 0) + 1);
  }

  opened({ sequences }: ObservedRequest): void {
    this.slot.arrived += sequences.length;
  }

  tokens({ history }: ObservedSequence, news: TokenNews): void {
    const { from, count, nowMs, previousMs, stampedUs } = news;
    const { slot, speedup } = this;
    slot.tokens += count;
    if (performance.timeOrigin + nowMs - stampedUs / 1_000 > LATE_MS) slot.late += count;
    if (from === 0) slot.ttft.add(Math.max(0, history.ttftMs * 1_000 * speedup));
    else slot.itl.add(Math.max(0, ((nowMs - previousMs) / count) * 1_000 * speedup), count);
  }

  ended(): void {
    this.slot.finished += 1;
  }

  /** Returns the content of the slots of the last second, and clears the oldest slot. */
  take(nowMs: number): PictureRates {
    const { slots, speedup } = this;
    const seconds = ((nowMs - Math.min(...slots.map(({ startMs }) => startMs))) / 1_000) * speedup;
    const sumOf = (value: (slot: Slot) => number): number =>
      slots.reduce((sum, slot) => sum + value(slot), 0);
    const perSecond = (value: (slot: Slot) => number): number =>
      seconds > 0 ? sumOf(value) / seconds : 0;
    const [tokens, late] = [sumOf(({ tokens }) => tokens), sumOf(({ late }) => late)];
    const refusals = [...new Set(slots.flatMap(({ refused }) => [...refused.keys()]))]
      .map((code) => ({ code, perSecond: perSecond(({ refused }) => refused.get(code) ?? 0) }))
      .sort((a, b) => b.perSecond - a.perSecond);
    const rates = {
      ttftMs: quantiles(slots.map(({ ttft }) => ttft)),
      itlMs: quantiles(slots.map(({ itl }) => itl)),
      tokensPerSecond: perSecond(({ tokens }) => tokens),
      requestsPerSecond: perSecond(({ arrived }) => arrived),
      finishedPerSecond: perSecond(({ finished }) => finished),
      refusedPerSecond: refusals.reduce((sum, part) => sum + part.perSecond, 0),
      refusals,
      ...(areTooLate(late, tokens) ? { lateShare: late / tokens } : {}),
    };
    this.at = (this.at + 1) % SLOTS;
    this.slot.begin(nowMs);
    return rates;
  }

  private get slot(): Slot {
    return this.slots[this.at]!;
  }
}

function quantiles(histograms: readonly IntervalHistogram[]): Quantiles | null {
  const all = new IntervalHistogram();
  for (const each of histograms) if (each.count > 0) all.merge(each);
  if (all.count === 0) return null;
  const [p50 = 0, p99 = 0] = all.quantilesUs([0.5, 0.99]);
  return { p50: p50 / 1_000, p99: p99 / 1_000 };
}
