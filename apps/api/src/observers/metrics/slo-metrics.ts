import type { SloClass } from '@baton/policies';
import { msToUs } from '@baton/kernel';
import { Injectable } from '@nestjs/common';
import { Counter, Histogram, Registry } from 'prom-client';
import { CallClasses } from '../../http/access/call-classes';
import { Config } from '../../tokens';
import type {
  ObservedCall,
  ObservedRequest,
  ObservedSequence,
  RequestEnd,
  RequestObserver,
} from '../port/port';

const TTFT_SECONDS = [0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 40, 80];
const TPOT_SECONDS = [0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.2, 0.5, 1];

const OUTCOMES = ['good', 'late', 'failed', 'refused'] as const;

/**
 * Outcomes and latencies of each SLO class. Latencies are wall times from the arrival of a request;
 * targets are simulated times, as everywhere. It is off without classes.
 */
@Injectable()
export class SloMetrics implements RequestObserver {
  readonly isOn: boolean;
  private readonly families: ReturnType<typeof familiesIn>;
  private readonly speedup: number;

  constructor(
    { speedup }: Config,
    private readonly classes: CallClasses,
    registry: Registry,
  ) {
    this.isOn = classes.isOn;
    this.speedup = speedup;
    this.families = familiesIn(this.isOn ? [registry] : []);
    for (const { name } of classes.all) {
      for (const outcome of OUTCOMES) this.families.requests.inc({ slo_class: name, outcome }, 0);
      this.families.ttft.zero({ slo_class: name });
      this.families.tpot.zero({ slo_class: name });
    }
  }

  refused(call: ObservedCall): void {
    const sloClass = this.classes.find(call);
    if (sloClass !== undefined) this.count(sloClass, 'refused');
  }

  closed({ call, sequences }: ObservedRequest, { reason }: RequestEnd): void {
    const sloClass = this.classes.of(call);
    if (reason === 'error' || reason === 'abort') this.count(sloClass, 'failed');
    else if (sequences.every((each) => this.isInTime(each, sloClass))) this.count(sloClass, 'good');
    else this.count(sloClass, 'late');
    const labels = { slo_class: sloClass.name };
    for (const sequence of sequences) {
      if (sequence.received === 0) continue;
      this.families.ttft.observe(labels, sequence.history.ttftMs / 1_000);
      this.families.tpot.observe(labels, tpotMs(sequence) / 1_000);
    }
  }

  private count({ name }: SloClass, outcome: (typeof OUTCOMES)[number]): void {
    this.families.requests.inc({ slo_class: name, outcome });
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

function familiesIn(registers: Registry[]) {
  return {
    requests: new Counter({
      name: 'baton:slo_requests_total',
      help:
        'Requests of an SLO class by outcome: good (its targets were met), late, failed, or ' +
        'refused before they were queued for an engine.',
      labelNames: ['slo_class', 'outcome'],
      registers,
    }),
    ttft: new Histogram({
      name: 'baton:slo_ttft_seconds',
      help: 'Wall time to the first token by SLO class, with the wait for flow control.',
      labelNames: ['slo_class'],
      buckets: TTFT_SECONDS,
      registers,
    }),
    tpot: new Histogram({
      name: 'baton:slo_tpot_seconds',
      help: 'Wall time per output token after the first by SLO class.',
      labelNames: ['slo_class'],
      buckets: TPOT_SECONDS,
      registers,
    }),
  };
}
