import { Module } from '@nestjs/common';
import { LiveSequences } from '../observers/port/state';
import { SequenceTable } from './sequence-table';

/** The sequences under way. Observers may only read them. */
@Module({
  providers: [
    { provide: SequenceTable, useFactory: () => new SequenceTable() },
    { provide: LiveSequences, useExisting: SequenceTable },
  ],
  exports: [SequenceTable, LiveSequences],
})
export class SequencesModule {}
