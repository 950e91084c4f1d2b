import type { Logger } from '../logs/logger';
import type { UpstreamServer } from './upstream-server';

const LOOK_EVERY_MS = 1_000;
/** Failures in a row after which the server counts as down. */
const MAX_FAILURES = 3;

/** Circuit breaker of one server: down after three failures in a row, or one refused connection, until `/health` says otherwise. */
export class HealthWatch {
  private failures = 0;
  private isDown = false;
  private timer: NodeJS.Timeout | undefined;
  private onState: (isUp: boolean) => void = () => undefined;

  constructor(
    private readonly server: UpstreamServer,
    private readonly log: Logger,
  ) {}

  get isUp(): boolean {
    return !this.isDown;
  }

  /** Looks once, and again while the server is down. */
  start(onState: (isUp: boolean) => void): void {
    this.onState = onState;
    void this.look();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.onState = () => undefined;
  }

  succeeded(): void {
    this.failures = 0;
    this.setDown(false);
  }

  failed(isCertain: boolean): void {
    this.failures += 1;
    if (!isCertain && this.failures < MAX_FAILURES) return;
    this.setDown(true);
    this.timer ??= setTimeout(() => void this.look(), LOOK_EVERY_MS);
  }

  private async look(): Promise<void> {
    const isHealthy = await this.server.isHealthy();
    this.timer = undefined;
    if (isHealthy) this.succeeded();
    else this.failed(true);
  }

  private setDown(isDown: boolean): void {
    if (this.isDown === isDown) return;
    this.isDown = isDown;
    const { url } = this.server;
    if (isDown) this.log.warn({ server: url }, 'upstream server is down');
    else this.log.info({ server: url }, 'upstream server is up again');
    this.onState(!isDown);
  }
}
