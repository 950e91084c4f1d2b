import { channels, type Unsubscribe } from '@baton/transport';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ApiIdentity, Broker } from '../tokens';
import { DueFrames } from './due-frames';

/** The channel on which engines send frames to this process, named after the process. */
@Injectable()
export class FrameChannel implements OnModuleInit, OnApplicationShutdown {
  private unsubscribe: Unsubscribe | undefined;

  constructor(
    private readonly transport: Broker,
    private readonly identity: ApiIdentity,
    private readonly due: DueFrames,
  ) {}

  async onModuleInit(): Promise<void> {
    const channel = channels.api(this.identity.apiId);
    this.unsubscribe = await this.transport.bus.subscribe(channel, this.due.take);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.unsubscribe?.().catch(() => undefined);
    this.due.stop();
  }
}
