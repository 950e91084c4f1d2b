import type { Comparison } from '@baton/analysis';
import { consoleTable } from '../console-table';
import { COMPARISON_COLUMNS, comparisonNotes, comparisonRows } from './comparison-rows';

/** A recorded run and its simulation, for the console. */
export function consoleComparison(comparison: Comparison): string {
  const columns = COMPARISON_COLUMNS.map((column, i) =>
    i === 0 ? { ...column, name: 'comparison' } : column,
  );
  const notes = comparisonNotes(comparison).map((note) => `${note}\n`);
  return ['\n', consoleTable(columns, comparisonRows(comparison)), ...notes].join('');
}
