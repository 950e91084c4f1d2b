import { channels, type Unsubscribe } from '@baton/transport';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Exchanges } from '../../request/serve/exchanges';
import { Broker } from '../../tokens';

/**
 * Ends the generation of cancelled responses in any API process. When a message is lost, the
 * generation goes on and its result is dropped.
 */
@Injectable()
export class Cancellations implements OnApplicationShutdown, OnModuleInit {
  private unsubscribe: Unsubscribe | undefined;

  constructor(
    private readonly transport: Broker,
    private readonly exchanges: Exchanges,
  ) {}

  async onModuleInit(): Promise<void> {
    const { bus } = this.transport;
    this.unsubscribe = await bus.subscribe(channels.cancelledResponses, (payload) => {
      this.exchanges.abort([payload.toString()]);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.unsubscribe?.().catch(() => undefined);
  }

  cancel(responseId: string): void {
    this.transport.bus.publish(channels.cancelledResponses, Buffer.from(responseId));
  }
}
