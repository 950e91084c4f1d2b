import { LoopLag } from '@baton/clock';
import { renderHistogram, renderNumbers } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Listeners } from '../../http/listeners';
import { TRANSPORT } from '../../tokens';

/** The event loop of the front: its utilization, its pauses, and the wait of new connections. */
@Injectable()
export class LoopMetrics implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly lag = new LoopLag();

  constructor(
    private readonly listeners: Listeners,
    @Inject(TRANSPORT) private readonly transport: Transport,
  ) {}

  onApplicationBootstrap(): void {
    this.lag.start();
  }

  onApplicationShutdown(): void {
    this.lag.stop();
  }

  render(): string {
    return [
      gauge(
        'baton:api_event_loop_lag_seconds',
        'How late the event loop of the front ran at most in the last 30 to 60 s.',
        this.lag.worstMs() / 1_000,
      ),
      gauge(
        'baton:api_starved_seconds',
        'Longest recent pause of the front; it loses half of its weight in lateness_half_life.',
        this.transport.processClock.latenessMs() / 1_000,
      ),
      counter(
        'baton:api_event_loop_turns_total',
        'Turns of the event loop of the front. It accepts one connection per turn and port.',
        performance.nodeTiming.uvMetricsInfo.loopCount,
      ),
      counter(
        'baton:api_event_loop_busy_seconds_total',
        'Time in which the event loop of the front did not wait for events.',
        performance.eventLoopUtilization().active / 1_000,
      ),
      this.renderArrivals(),
    ].join('');
  }

  private renderArrivals(): string {
    const { accepted, waits } = this.listeners.arrivals;
    return [
      counter('baton:api_connections_total', 'Connections that the front accepted.', accepted),
      renderHistogram(
        {
          name: 'baton:api_accept_to_request_seconds',
          help: 'From the accept of a connection until the request that came with it is handled.',
        },
        [{ labels: {}, value: waits.snapshot() }],
      ),
    ].join('');
  }
}

function gauge(name: string, help: string, value: number): string {
  return renderNumbers({ name, help }, 'gauge', [{ labels: {}, value }]);
}

function counter(name: string, help: string, value: number): string {
  return renderNumbers({ name, help }, 'counter', [{ labels: {}, value }]);
}
