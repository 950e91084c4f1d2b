import { SystemWallClock } from '@baton/clock';
import type { BatonConfig } from '@baton/config';
import { msToUs } from '@baton/kernel';
import { Module } from '@nestjs/common';
import { ClusterModule } from '../cluster/cluster.module';
import { ObserversModule } from '../observers/observers.module';
import { Config } from '../tokens';
import { Aborter } from './aborter';
import { DueFrames } from './due-frames';
import { FrameChannel } from './frame-channel';
import { frameFaults } from './frame-faults';
import { FrameInbox } from './frame-inbox';
import { Recovery } from './recovery';
import { JobMover } from './job-mover';
import { Resender } from './resender';
import { Resubmitter } from './resubmitter';
import { SequencesModule } from '../sequences/sequences.module';

const PROVIDERS = [
  Aborter,
  FrameChannel,
  FrameInbox,
  Recovery,
  JobMover,
  Resender,
  Resubmitter,
  { provide: DueFrames, inject: [Config, FrameInbox], useFactory: dueFrames },
];

/**
 * The way of tokens back to clients: receives frames, matches them to sequences, and requests
 * missing ones again.
 */
@Module({
  imports: [ClusterModule, ObserversModule, SequencesModule],
  providers: PROVIDERS,
  exports: [...PROVIDERS, SequencesModule],
})
export class FramesModule {}

function dueFrames(config: BatonConfig, { receive }: FrameInbox): DueFrames {
  const fault = frameFaults(config);
  const pass = fault ? (frame: Buffer): void => fault(frame, receive) : receive;
  return new DueFrames(new SystemWallClock(), msToUs(config.resultLead), pass);
}
