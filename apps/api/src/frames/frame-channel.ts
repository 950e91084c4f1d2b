import { SystemWallClock } from '@baton/clock';
import type { BatonConfig } from '@baton/config';
import { msToUs } from '@baton/kernel';
import { channels, type Transport, type Unsubscribe } from '@baton/transport';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { API_IDENTITY, type ApiIdentity, CONFIG, TRANSPORT } from '../tokens';
import { DueFrames } from './due-frames';
import { frameFaults } from './frame-faults';
import { FrameInbox } from './frame-inbox';

/** The channel on which engines send frames to this process, named after the process. */
@Injectable()
export class FrameChannel implements OnModuleInit, OnApplicationShutdown {
  private unsubscribe: Unsubscribe | undefined;
  private due: DueFrames | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(TRANSPORT) private readonly transport: Transport,
    @Inject(API_IDENTITY) private readonly identity: ApiIdentity,
    private readonly inbox: FrameInbox,
  ) {}

  /** See `DueFrames.nextBefore`. */
  nextBefore(workUs: number): Promise<void> | undefined {
    return this.due?.nextBefore(workUs);
  }

  async onModuleInit(): Promise<void> {
    const { receive } = this.inbox;
    const fault = frameFaults(this.config);
    const pass = fault ? (frame: Buffer): void => fault(frame, receive) : receive;
    this.due = new DueFrames(new SystemWallClock(), msToUs(this.config.resultLead), pass);
    const channel = channels.api(this.identity.apiId);
    this.unsubscribe = await this.transport.bus.subscribe(channel, this.due.take);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.unsubscribe?.().catch(() => undefined);
    this.due?.stop();
  }
}
