import { ownOperators } from '@baton/config';
import { heldOutErrors, type HeldOutErrors } from '@baton/step-time';

/** The user's own operators, with the error of each table on held-out points. */
export interface OperatorCheck {
  readonly folder: string;
  readonly holdOutEvery: number;
  readonly tables: readonly OperatorRow[];
}

interface OperatorRow extends HeldOutErrors {
  readonly system: string;
  readonly name: string;
}

/**
 * Reads and checks all tables of a folder.
 *
 * @param holdOutEvery  every k-th point is held out; 0: none
 * @throws UsageError, one sentence that names file and line
 */
export function checkOperators(
  folder: string,
  holdOutEvery: number,
  onProgress?: (done: number, whole: number) => void,
): OperatorCheck {
  const own = ownOperators(folder);
  const given = own.tables();
  const tables = given.map((table, i) => {
    onProgress?.(i, given.length);
    const { system, name } = table;
    return { system, name, ...heldOutErrors(table, holdOutEvery, own.withoutTables()) };
  });
  return { folder, holdOutEvery, tables };
}

/** The check as text. */
export function operatorsText({ folder, holdOutEvery: every, tables }: OperatorCheck): string {
  const percent = (value: number | undefined): string =>
    value === undefined ? '-' : `${value.toFixed(2)} %`;
  const rows = tables.map((row) => [
    `  ${row.system} ${row.name}`,
    ...[String(row.points), String(row.heldOut)],
    ...[percent(row.meanPercent), percent(row.largestPercent)],
  ]);
  const header = ['', 'points', 'held out', 'mean error', 'largest error'];
  return [
    `own tables of ${folder}; error of interpolation where every ${every}th point is left out`,
    ...[header, ...rows].map(aligned),
    '',
    `use them with --operators ${folder}`,
    '',
  ].join('\n');
}

/** The check as JSON. */
export function operatorsJson({ folder, holdOutEvery, tables }: OperatorCheck): string {
  const document = {
    operators: folder,
    hold_out: { every: holdOutEvery },
    tables: tables.map((row) => ({
      system: row.system,
      name: row.name,
      points: row.points,
      held_out: row.heldOut,
      mean_error_percent: row.meanPercent ?? null,
      max_error_percent: row.largestPercent ?? null,
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function aligned([first = '', ...others]: readonly string[]): string {
  return first.padEnd(44) + others.map((cell) => cell.padStart(15)).join('');
}
