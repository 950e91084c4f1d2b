import type { BatonConfig } from '@baton/config';
import type { SloClass } from '@baton/policies';
import { msToUs } from '@baton/kernel';
import { BucketCounts, type MetricSeries, renderHistogram, renderNumbers } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { CallClasses } from '../../http/access/call-classes';
import { CONFIG } from '../../tokens';
import type {
  ObservedCall,
  ObservedRequest,
  ObservedSequence,
  RequestEnd,
  RequestObserver,
} from '../port/port';

const TTFT_SECONDS = [0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 40, 80];
const TPOT_SECONDS = [0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.2, 0.5, 1];

/** Outcomes and latencies of the requests of one class. */
class ClassCounts {
  good = 0;
  late = 0;
  failed = 0;
  refused = 0;
  readonly ttft = new BucketCounts(TTFT_SECONDS);
  readonly tpot = new BucketCounts(TPOT_SECONDS);
}

const OUTCOMES = ['good', 'late', 'failed', 'refused'] as const;

/**
 * Outcomes and latencies of each SLO class. Latencies are wall times from the arrival of a request;
 * targets are simulated times, as everywhere. It is off without classes.
 */
@Injectable()
export class SloMetrics implements RequestObserver {
  readonly isOn: boolean;
  private readonly byClass: ReadonlyMap<SloClass, ClassCounts>;
  private readonly speedup: number;

  constructor(
    @Inject(CONFIG) { speedup }: BatonConfig,
    private readonly classes: CallClasses,
  ) {
    this.isOn = classes.isOn;
    this.speedup = speedup;
    this.byClass = new Map(classes.all.map((each) => [each, new ClassCounts()]));
  }

  refused(call: ObservedCall): void {
    const sloClass = this.classes.find(call);
    if (sloClass !== undefined) this.byClass.get(sloClass)!.refused += 1;
  }

  closed({ call, sequences }: ObservedRequest, { reason }: RequestEnd): void {
    const sloClass = this.classes.of(call);
    const counts = this.byClass.get(sloClass)!;
    if (reason === 'error' || reason === 'abort') counts.failed += 1;
    else if (sequences.every((each) => this.isInTime(each, sloClass))) counts.good += 1;
    else counts.late += 1;
    for (const sequence of sequences) {
      if (sequence.received === 0) continue;
      counts.ttft.observe(sequence.history.ttftMs / 1_000);
      counts.tpot.observe(tpotMs(sequence) / 1_000);
    }
  }

  render(): string {
    if (!this.isOn) return '';
    const all = [...this.byClass];
    const outcomes: MetricSeries<number>[] = all.flatMap(([{ name }, counts]) =>
      OUTCOMES.map((outcome) => ({ labels: { slo_class: name, outcome }, value: counts[outcome] })),
    );
    const latencies = (key: 'ttft' | 'tpot') =>
      all.map(([{ name }, counts]) => ({
        labels: { slo_class: name },
        value: counts[key].snapshot(),
      }));
    return [
      renderNumbers(REQUESTS, 'counter', outcomes),
      renderHistogram(TTFT, latencies('ttft')),
      renderHistogram(TPOT, latencies('tpot')),
    ].join('');
  }

  private isInTime(sequence: ObservedSequence, { ttftUs, tpotUs }: SloClass): boolean {
    const simulatedUs = (ms: number): number => msToUs(ms) * this.speedup;
    return (
      simulatedUs(sequence.history.ttftMs) <= (ttftUs ?? Infinity) &&
      simulatedUs(tpotMs(sequence)) <= (tpotUs ?? Infinity)
    );
  }
}

function tpotMs({ received, history }: ObservedSequence): number {
  const { firstTokenMs, lastTokenMs } = history;
  return received > 1 ? (lastTokenMs - firstTokenMs) / (received - 1) : 0;
}

const REQUESTS = {
  name: 'baton:slo_requests_total',
  help:
    'Requests of an SLO class by outcome: good (its targets were met), late, failed, or refused ' +
    'before they were queued for an engine.',
};
const TTFT = {
  name: 'baton:slo_ttft_seconds',
  help: 'Wall time to the first token by SLO class, with the wait for flow control.',
};
const TPOT = {
  name: 'baton:slo_tpot_seconds',
  help: 'Wall time per output token after the first by SLO class.',
};
