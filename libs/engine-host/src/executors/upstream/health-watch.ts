import type { Logger } from '@baton/telemetry';
import type { UpstreamServer } from '../server/upstream-server';
import type { KvConnector } from './kv-connector';

const LOOK_EVERY_MS = 5_000;
/** Interval of the checks while the server is failing. */
const LOOK_AGAIN_MS = 1_000;
/** Failures in a row after which the server counts as down. */
const MAX_FAILURES = 3;

export interface Watched {
  readonly server: UpstreamServer;
  readonly connector: KvConnector;
  readonly log: Logger;
}

/**
 * Circuit breaker of one server. The server is down after three failures in a row (of legs or of
 * checks of `/health`) or one refused connection, until `/health` succeeds. A connector that needs
 * facts from the server keeps it down until they are known.
 */
export class HealthWatch {
  private failures = 0;
  private state: 'unknown' | 'up' | 'down' = 'unknown';
  private timer: NodeJS.Timeout | undefined;
  private isLooking = false;
  private onState: (isUp: boolean) => void = () => undefined;
  private isStopped = false;

  constructor(private readonly watched: Watched) {}

  get isUp(): boolean {
    if (this.state !== 'unknown') return this.state === 'up';
    return this.watched.connector.isReady === undefined;
  }

  /** Checks now, then every five seconds; every second while the server is failing. */
  start(onState: (isUp: boolean) => void): void {
    this.onState = onState;
    void this.look();
  }

  stop(): void {
    this.cancelLook();
    this.isStopped = true;
    this.onState = () => undefined;
  }

  /**
   * Called after a successful check, and for any data of a leg: a server that is too busy to
   * answer `/health` in time is up while it sends.
   */
  succeeded(): void {
    this.failures = 0;
    this.enter('up');
  }

  failed(isCertain: boolean): void {
    this.failures += 1;
    if (isCertain || this.failures >= MAX_FAILURES) this.enter('down');
    if (this.failures === 1) this.cancelLook();
    this.lookIn(LOOK_AGAIN_MS);
  }

  private cancelLook(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private lookIn(ms: number): void {
    if (this.isStopped || this.isLooking) return;
    this.timer ??= setTimeout(() => void this.look(), ms);
  }

  private async look(): Promise<void> {
    const { server, connector } = this.watched;
    this.timer = undefined;
    this.isLooking = true;
    const isHealthy = (await server.isHealthy()) && (await connector.isReady?.()) !== false;
    this.isLooking = false;
    if (this.isStopped) return;
    if (isHealthy) {
      this.succeeded();
      this.lookIn(LOOK_EVERY_MS);
    } else this.failed(this.state === 'unknown');
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
