import { histogramSamples, readAtScrape, readNumber } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { Listeners } from '../../http/listeners';
import { Broker } from '../../tokens';
import { LiveSequences } from '../port/state';

/** Interval of prom-client's samples in ms. Each one wakes an idle process. */
const OWN_SAMPLING_MS = 1_000;

/**
 * This process: prom-client's default metrics, the event loop's pauses, the wait of new
 * connections, and the fill of its tables.
 */
@Injectable()
export class ProcessMetrics {
  constructor(
    private readonly registry: Registry,
    private readonly listeners: Listeners,
    private readonly transport: Broker,
    private readonly sequences: LiveSequences,
  ) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: OWN_SAMPLING_MS });
    this.addLoop();
    this.addConnections();
    readNumber(registry, {
      name: 'baton:api_live_sequences',
      help: 'Sequences under way, in all API processes.',
      type: 'gauge',
      read: () => this.sequences.size,
    });
  }

  private addLoop(): void {
    readNumber(this.registry, {
      name: 'baton:api_event_loop_lag_seconds',
      help: 'How late the event loop of the API ran at most in the last 30 to 60 s.',
      type: 'gauge',
      aggregator: 'max',
      read: () => this.transport.processClock.loopLagMs() / 1_000,
    });
    readNumber(this.registry, {
      name: 'baton:api_starved_seconds',
      help: 'Longest recent pause of the API; it loses half of its weight in lateness_half_life.',
      type: 'gauge',
      aggregator: 'max',
      read: () => this.transport.processClock.latenessMs() / 1_000,
    });
    readNumber(this.registry, {
      name: 'baton:api_event_loop_turns_total',
      help: 'Turns of the event loop of the API. It accepts one connection per turn and listening socket.',
      type: 'counter',
      read: () => performance.nodeTiming.uvMetricsInfo.loopCount,
    });
    readNumber(this.registry, {
      name: 'baton:api_event_loop_busy_seconds_total',
      help: 'Time in which the event loop of the API did not wait for events.',
      type: 'counter',
      read: () => performance.eventLoopUtilization().active / 1_000,
    });
  }

  private addConnections(): void {
    const { registry, listeners } = this;
    readNumber(registry, {
      name: 'baton:api_connections_total',
      help: 'Connections that the API accepted.',
      type: 'counter',
      read: () => listeners.arrivals.accepted,
    });
    const name = 'baton:api_accept_to_request_seconds';
    const help = 'From the accept of a connection until the request that came with it is handled.';
    readAtScrape(registry, {
      name,
      help,
      type: 'histogram',
      read: () => histogramSamples(name, listeners.arrivals.waits.snapshot()),
    });
  }
}
