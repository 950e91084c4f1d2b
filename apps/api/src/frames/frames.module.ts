import type { Logger } from '@baton/telemetry';
import { Global, Module } from '@nestjs/common';
import { Observers } from '../observers/port/observers';
import { LiveSequences, WriteCounts } from '../observers/port/state';
import { LOGGER } from '../tokens';
import { Aborter } from './aborter';
import { FrameChannel } from './frame-channel';
import { FrameInbox } from './frame-inbox';
import { Recovery } from './recovery';
import { Rehomer } from './rehomer';
import { Resender } from './resender';
import { Resubmitter } from './resubmitter';
import { SequenceTable } from './sequence-table';
import { WriteTurns } from './write-turns';

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
  {
    provide: WriteTurns,
    inject: [LOGGER, Observers],
    useFactory: (logger: Logger, observers: Observers) => new WriteTurns(logger, observers),
  },
  { provide: WriteCounts, useExisting: WriteTurns },
];

/** Tokens on their way back: frames come in, find their sequences, and are asked for again. */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class FramesModule {}
