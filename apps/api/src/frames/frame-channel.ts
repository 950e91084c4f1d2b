import type { BatonConfig } from '@baton/config';
import { channels, type Transport, type Unsubscribe } from '@baton/transport';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { API_IDENTITY, type ApiIdentity, CONFIG, TRANSPORT } from '../tokens';
import { frameFaults } from './frame-faults';
import { FrameInbox } from './frame-inbox';

/** Where engines send this process its frames. Its name is that of the process, and no other listens. */
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
    const pass = frameFaults(this.config);
    const channel = channels.api(this.identity.apiId);
    const { bus } = this.transport;
    this.unsubscribe = await bus.subscribe(channel, (frame) => pass(frame, this.inbox.receive));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.unsubscribe?.().catch(() => undefined);
  }
}
