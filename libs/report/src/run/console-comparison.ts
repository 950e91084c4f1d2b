import type { Comparison } from '@baton/analysis';
import { consoleTable } from '../console-table';
import { wrapWords } from '../console-width';
import {
  COMPARISON_COLUMNS,
  comparisonNotes,
  comparisonRows,
  voidRecording,
} from './comparison-rows';

/** A recorded run and its simulation, for the console. An invalid recording is marked first. */
export function consoleComparison(comparison: Comparison): string {
  const columns = COMPARISON_COLUMNS.map((column, i) =>
    i === 0 ? { ...column, name: 'comparison' } : column,
  );
  const notes = comparisonNotes(comparison).map((note) => `${note}\n`);
  const reason = voidRecording(comparison);
  const mark = reason === undefined ? '' : wrapWords(`VOID: do not use these figures. ${reason}`);
  return ['\n', mark, consoleTable(columns, comparisonRows(comparison)), ...notes].join('');
}
