import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Aborter } from '../frames/aborter';
import { Listeners } from '../http/listeners';
import { Config, Log } from '../tokens';
import { Exchanges } from './serve/exchanges';
import { AcceptingState } from './take/accepting-state';

const DRAIN_CHECK_MS = 20;
/** Time that clients have to read the error that ended their requests. */
const FINAL_FLUSH_MS = 1_000;

/** Ends the last requests of a stopping process while the parts that they need still run. */
@Injectable()
export class RequestDrain implements OnModuleDestroy {
  constructor(
    private readonly config: Config,
    private readonly logger: Log,
    private readonly accepting: AcceptingState,
    private readonly exchanges: Exchanges,
    private readonly aborter: Aborter,
    private readonly listeners: Listeners,
  ) {}

  /** Refuses new requests, waits for those under way up to `shutdown_timeout`, then ends them. */
  async onModuleDestroy(): Promise<void> {
    this.accepting.stopAccepting();
    this.logger.info({ requests: this.exchanges.count }, 'draining');
    await this.untilIdle(this.config.shutdownTimeout * 1_000);
    this.exchanges.endAll();
    await this.untilIdle(FINAL_FLUSH_MS);
    await this.aborter.settled();
  }

  private get isIdle(): boolean {
    return this.exchanges.count + this.listeners.longAnswers.count === 0;
  }

  private async untilIdle(limitMs: number): Promise<void> {
    const deadlineMs = performance.now() + limitMs;
    while (!this.isIdle && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS));
    }
  }
}
