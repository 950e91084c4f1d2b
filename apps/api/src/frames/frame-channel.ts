import type { BatonConfig } from '@baton/config';
import { channels, type Transport, type Unsubscribe } from '@baton/transport';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { API_IDENTITY, type ApiIdentity, CONFIG, TRANSPORT } from '../tokens';
import { frameFaults } from './frame-faults';
import { FrameInbox } from './frame-inbox';

/** The channel on which engines send frames to this process, named after the process. */
@Injectable()
export class FrameChannel implements OnModuleInit, OnApplicationShutdown {
  private unsubscribe: Unsubscribe | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(TRANSPORT) private readonly transport: Transport,
    @Inject(API_IDENTITY) private readonly identity: ApiIdentity,
    private readonly inbox: FrameInbox,
  ) {}

  async onModuleInit(): Promise<void> {
    const { receive } = this.inbox;
    const fault = frameFaults(this.config);
    const take = fault ? (frame: Buffer): void => fault(frame, receive) : receive;
    const channel = channels.api(this.identity.apiId);
    this.unsubscribe = await this.transport.bus.subscribe(channel, take);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.unsubscribe?.().catch(() => undefined);
  }
}
