import { channels } from '@baton/transport';
import { Injectable } from '@nestjs/common';
import { Config, Broker } from '../tokens';

/**
 * Limit of unstored ids. It is reached only while the broker is unavailable; the requests beyond it
 * then run to their end.
 */
const MAX_UNSTORED = 100_000;

/**
 * Aborts requests in the cluster when their client has disconnected. The abort is published, which
 * ends the run immediately, and stored, for the case that the message is lost. An abort that could
 * not be stored is kept and stored later.
 */
@Injectable()
export class Aborter {
  private readonly unstored = new Set<string>();
  private isScheduled = false;
  private isStoring = false;

  constructor(
    private readonly transport: Broker,
    private readonly config: Config,
  ) {}

  abort(requestIds: readonly string[]): void {
    for (const requestId of requestIds) {
      if (this.unstored.size < MAX_UNSTORED) this.unstored.add(requestId);
    }
    this.retry();
  }

  /** Stores the ids that are still unstored; called with each sweep. */
  retry(): void {
    if (this.isScheduled || this.isStoring || this.unstored.size === 0) return;
    this.isScheduled = true;
    setImmediate(() => void this.store());
  }

  /** Resolves when every id so far is stored or has failed to be. */
  async settled(): Promise<void> {
    if (this.unstored.size > 0) await this.store();
  }

  private async store(): Promise<void> {
    this.isScheduled = false;
    if (this.isStoring || !this.transport.isConnected) return;
    this.isStoring = true;
    try {
      while (this.unstored.size > 0) await this.storeAll([...this.unstored]);
    } catch {
      // The broker is unavailable; the next sweep retries.
    } finally {
      this.isStoring = false;
    }
  }

  private async storeAll(requestIds: readonly string[]): Promise<void> {
    if (Math.random() >= this.config.loseAborts) {
      this.transport.bus.publish(channels.aborts, Buffer.from(JSON.stringify({ requestIds })));
    }
    await this.transport.ledger.abort(requestIds);
    for (const requestId of requestIds) this.unstored.delete(requestId);
  }
}
