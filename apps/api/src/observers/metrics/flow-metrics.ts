import type { DropReason, FlowQueue, SloClass } from '@baton/policies';
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

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
  private readonly tenants = new Set<string>();
  private requests: Counter<'slo_class' | 'tenant' | 'outcome'> | undefined;
  private waits: Histogram<'slo_class'> | undefined;

  constructor(private readonly registry: Registry) {}

  /** The page has these families only with flow control. */
  follow(flow: FlowQueues): void {
    const labelsOf = (queue: Flow) => this.labelsOf(queue);
    const registers = [this.registry];
    new Gauge({
      name: 'baton:flow_waiting_requests',
      help: 'Requests that wait in this API process for flow control.',
      labelNames: ['slo_class', 'tenant'],
      registers,
      collect() {
        this.reset();
        for (const queue of flow.queues) this.inc(labelsOf(queue), queue.waitingRequests);
      },
    });
    new Gauge({
      name: 'baton:flow_under_way_requests',
      help: 'Requests of this API process that flow control has let on and that have not ended.',
      registers,
      collect() {
        this.set(flow.underWay);
      },
    });
    this.requests = new Counter({
      name: 'baton:flow_requests_total',
      help:
        'Requests that flow control has decided on: passed, turned away (full, shed, timeout), ' +
        'or left by their clients.',
      labelNames: ['slo_class', 'tenant', 'outcome'],
      registers,
    });
    this.waits = new Histogram({
      name: 'baton:flow_wait_seconds',
      help: 'Wall time that requests waited for flow control before they passed.',
      labelNames: ['slo_class'],
      buckets: WAIT_SECONDS,
      registers,
    });
  }

  count(flow: Flow, outcome: FlowOutcome): void {
    this.requests?.inc({ ...this.labelsOf(flow), outcome });
  }

  waited({ name }: SloClass, seconds: number): void {
    this.waits?.observe({ slo_class: name }, seconds);
  }

  private labelsOf({ sloClass, tenant }: Flow): { slo_class: string; tenant: string } {
    if (this.tenants.size < MOST_TENANTS) this.tenants.add(tenant);
    return { slo_class: sloClass.name, tenant: this.tenants.has(tenant) ? tenant : OTHERS };
  }
}
