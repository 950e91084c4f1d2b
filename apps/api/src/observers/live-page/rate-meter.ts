import { IntervalHistogram, LATE_MS, type PlainHistogram } from '@baton/analysis';
import type { BatonError, ErrorCode } from '@baton/contract';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { Config, Broker } from '../../tokens';
import type {
  ObservedCall,
  ObservedRequest,
  ObservedSequence,
  RequestObserver,
  TokenNews,
} from '../port/port';
import type { RateFacts } from './rates';

/** Slots of the window over which rates are measured. */
const SLOTS = 4;
/** A slot ends with the first picture after this time, so with each one in one process. */
const SLOT_MS = 200;
/** Statuses of requests that the cluster cannot take now; other statuses mean a faulty request. */
const OVERLOAD: ReadonlySet<number> = new Set([429, 503]);

class Slot {
  ttft = new IntervalHistogram();
  itl = new IntervalHistogram();
  /** Both as they would be if every token came at the instant of its stamp. */
  stampedTtft = new IntervalHistogram();
  stampedItl = new IntervalHistogram();
  tokens = 0;
  late = 0;
  arrived = 0;
  finished = 0;
  refused = new Map<ErrorCode, number>();
  startMs = 0;

  begin(nowMs: number): void {
    this.ttft = new IntervalHistogram();
    this.itl = new IntervalHistogram();
    this.stampedTtft = new IntervalHistogram();
    this.stampedItl = new IntervalHistogram();
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
  /** How late the last tokens of each sequence came, ms. */
  private readonly lateMs = new WeakMap<ObservedSequence, number>();
  private readonly speedup: number;
  private readonly starvedAfterMs: number;

  constructor(
    { speedup, starvedAfter }: Config,
    @Inject(Broker) private readonly transport: Pick<Transport, 'processClock'>,
  ) {
    this.speedup = speedup;
    this.starvedAfterMs = starvedAfter * 1_000;
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

  tokens(sequence: ObservedSequence, news: TokenNews): void {
    const { from, count, nowMs, previousMs, stampedUs } = news;
    const { slot, speedup } = this;
    slot.tokens += count;
    const lateMs = Math.max(0, performance.timeOrigin + nowMs - stampedUs / 1_000);
    if (lateMs > LATE_MS) slot.late += count;
    const simulatedUs = (ms: number): number => Math.max(0, ms * 1_000 * speedup);
    if (from === 0) {
      const { ttftMs } = sequence.history;
      slot.ttft.add(simulatedUs(ttftMs));
      slot.stampedTtft.add(simulatedUs(ttftMs - lateMs));
    } else {
      const gapMs = nowMs - previousMs;
      const stampedMs = gapMs - lateMs + (this.lateMs.get(sequence) ?? lateMs);
      slot.itl.add(simulatedUs(gapMs / count), count);
      slot.stampedItl.add(simulatedUs(stampedMs / count), count);
    }
    this.lateMs.set(sequence, lateMs);
  }

  ended(): void {
    this.slot.finished += 1;
  }

  /** The content of the slots of the last second. Clears the oldest slot when its time has come. */
  take(nowMs: number): RateFacts {
    const { slots, speedup } = this;
    const startMs = Math.min(...slots.map((slot) => slot.startMs));
    const sumOf = (value: (slot: Slot) => number): number =>
      slots.reduce((sum, slot) => sum + value(slot), 0);
    const codes = new Set(slots.flatMap(({ refused }) => [...refused.keys()]));
    const pauseMs = this.transport.processClock.latenessMs();
    const facts = {
      seconds: ((nowMs - startMs) / 1_000) * speedup,
      ttft: merged(slots.map(({ ttft }) => ttft)),
      itl: merged(slots.map(({ itl }) => itl)),
      stampedTtft: merged(slots.map(({ stampedTtft }) => stampedTtft)),
      stampedItl: merged(slots.map(({ stampedItl }) => stampedItl)),
      tokens: sumOf(({ tokens }) => tokens),
      late: sumOf(({ late }) => late),
      arrived: sumOf(({ arrived }) => arrived),
      finished: sumOf(({ finished }) => finished),
      refused: [...codes].map((code): [string, number] => [
        code,
        sumOf(({ refused }) => refused.get(code) ?? 0),
      ]),
      starvedMs: pauseMs > this.starvedAfterMs ? pauseMs : 0,
    };
    if (nowMs - this.slot.startMs >= SLOT_MS) {
      this.at = (this.at + 1) % SLOTS;
      this.slot.begin(nowMs);
    }
    return facts;
  }

  private get slot(): Slot {
    return this.slots[this.at]!;
  }
}

function merged(histograms: readonly IntervalHistogram[]): PlainHistogram {
  const all = new IntervalHistogram();
  for (const each of histograms) if (each.count > 0) all.merge(each);
  return all.toPlain();
}
