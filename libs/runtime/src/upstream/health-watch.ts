import type { Logger } from '../logs/logger';
import type { KvConnector } from './kv-connector';
import type { UpstreamServer } from './upstream-server';

const LOOK_EVERY_MS = 1_000;
/** Failures in a row after which the server counts as down. */
const MAX_FAILURES = 3;

export interface Watched {
  readonly server: UpstreamServer;
  readonly connector: KvConnector;
  readonly log: Logger;
}

/**
 * Circuit breaker of one server: down after three failures in a row, or one refused connection, until `/health` says otherwise. A server of which something
 * must be known before the first leg is not up until it is.
 */
export class HealthWatch {
  private failures = 0;
  private state: 'unknown' | 'up' | 'down' = 'unknown';
  private timer: NodeJS.Timeout | undefined;
  private onState: (isUp: boolean) => void = () => undefined;
  private isStopped = false;

  constructor(private readonly watched: Watched) {}

  get isUp(): boolean {
    if (this.state !== 'unknown') return this.state === 'up';
    return this.watched.connector.isReady === undefined;
  }

  /** Looks once, and again while the server is down. */
  start(onState: (isUp: boolean) => void): void {
    this.onState = onState;
    void this.look();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.isStopped = true;
    this.onState = () => undefined;
  }

  succeeded(): void {
    this.failures = 0;
    this.enter('up');
  }

  failed(isCertain: boolean): void {
    this.failures += 1;
    if (!isCertain && this.failures < MAX_FAILURES) return;
    this.enter('down');
    if (this.isStopped) return;
    this.timer ??= setTimeout(() => void this.look(), LOOK_EVERY_MS);
  }

  private async look(): Promise<void> {
    const { server, connector } = this.watched;
    const isHealthy = (await server.isHealthy()) && (await connector.isReady?.()) !== false;
    this.timer = undefined;
    if (this.isStopped) return;
    if (isHealthy) this.succeeded();
    else this.failed(true);
  }

  private enter(state: 'up' | 'down'): void {
    const former = this.state;
    if (state === former) return;
    this.state = state;
    const { server, connector, log } = this.watched;
    if (state === 'down') {
      connector.forget?.();
      log.warn({ server: server.url }, 'upstream server is down');
    } else if (former === 'down') {
      log.info({ server: server.url }, 'upstream server is up again');
    }
    this.onState(state === 'up');
  }
}
