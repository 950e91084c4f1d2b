import { Global, Module } from '@nestjs/common';
import { LiveSequences } from '../observers/port/state';
import { Aborter } from './aborter';
import { FrameChannel } from './frame-channel';
import { FrameInbox } from './frame-inbox';
import { Recovery } from './recovery';
import { Rehomer } from './rehomer';
import { Resender } from './resender';
import { Resubmitter } from './resubmitter';
import { SequenceTable } from './sequence-table';

const PROVIDERS = [
  Aborter,
  FrameChannel,
  FrameInbox,
  Recovery,
  Rehomer,
  Resender,
  Resubmitter,
  { provide: SequenceTable, useFactory: () => new SequenceTable() },
  { provide: LiveSequences, useExisting: SequenceTable },
];

/**
 * The way of tokens back to clients: receives frames, matches them to sequences, and requests
 * missing ones again.
 */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class FramesModule {}
