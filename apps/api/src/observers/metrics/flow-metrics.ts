import type { DropReason, FlowQueue, SloClass } from '@baton/policies';
import { BucketCounts, type MetricSeries, renderHistogram, renderNumbers } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';

/**
 * Limit of tenants with their own series, so that a scrape stays small; the first to come get one.
 */
const MOST_TENANTS = 100;
const OTHERS = 'other';
const WAIT_SECONDS = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

type FlowOutcome = 'passed' | DropReason | 'left';
type Flow = Pick<FlowQueue, 'sloClass' | 'tenant'>;

/** The part of the flow control queues that metrics read. */
export interface FlowQueues {
  readonly underWay: number;
  readonly queues: readonly FlowQueue[];
}

/** The counts of this process's flow control, by SLO class and tenant. */
@Injectable()
export class FlowMetrics {
  private flow: FlowQueues | undefined;
  private readonly tenants = new Set<string>();
  private readonly counts = new Map<string, MetricSeries<number>>();
  private readonly waits = new Map<string, BucketCounts>();

  follow(flow: FlowQueues): void {
    this.flow = flow;
  }

  count(flow: Flow, outcome: FlowOutcome): void {
    const labels = { ...this.labelsOf(flow), outcome };
    const key = JSON.stringify(labels);
    this.counts.set(key, { labels, value: (this.counts.get(key)?.value ?? 0) + 1 });
  }

  waited({ name }: SloClass, seconds: number): void {
    const known = this.waits.get(name) ?? new BucketCounts(WAIT_SECONDS);
    this.waits.set(name, known);
    known.observe(seconds);
  }

  /** Empty without flow control. */
  render(): string {
    const { flow } = this;
    if (flow === undefined) return '';
    const waits = [...this.waits].map(([name, counts]) => ({
      labels: { slo_class: name },
      value: counts.snapshot(),
    }));
    return [
      renderNumbers(WAITING, 'gauge', this.waiting(flow)),
      renderNumbers(UNDER_WAY, 'gauge', [{ labels: {}, value: flow.underWay }]),
      renderNumbers(REQUESTS, 'counter', [...this.counts.values()]),
      renderHistogram(WAITS, waits),
    ].join('');
  }

  private waiting({ queues }: FlowQueues): readonly MetricSeries<number>[] {
    const series = new Map<string, MetricSeries<number>>();
    for (const queue of queues) {
      const labels = this.labelsOf(queue);
      const key = JSON.stringify(labels);
      const before = series.get(key)?.value ?? 0;
      series.set(key, { labels, value: before + queue.waitingRequests });
    }
    return [...series.values()];
  }

  private labelsOf({ sloClass, tenant }: Flow): { slo_class: string; tenant: string } {
    if (this.tenants.size < MOST_TENANTS) this.tenants.add(tenant);
    return { slo_class: sloClass.name, tenant: this.tenants.has(tenant) ? tenant : OTHERS };
  }
}

const WAITING = {
  name: 'baton:flow_waiting_requests',
  help: 'Requests that wait in this API process for flow control.',
};
const UNDER_WAY = {
  name: 'baton:flow_under_way_requests',
  help: 'Requests of this API process that flow control has let on and that have not ended.',
};
const REQUESTS = {
  name: 'baton:flow_requests_total',
  help:
    'Requests that flow control has decided on: passed, turned away (full, shed, timeout), or ' +
    'left by their clients.',
};
const WAITS = {
  name: 'baton:flow_wait_seconds',
  help: 'Wall time that requests waited for flow control before they passed.',
};
