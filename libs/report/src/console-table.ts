import { CONSOLE_WIDTH, wrapWords } from './console-width';
import { formatNumber } from './format-number';
import type { CellValue } from './sections';

export interface ConsoleColumn {
  readonly name: string;
  readonly align?: 'left' | 'right';
}

type Row = readonly string[];

const GAP = '  ';
/** Columns of the terminal from which a last column of text is wrapped. */
const LEAST_TEXT = 24;
/** Characters of a row name from which rows get numbers instead. */
const LONGEST_NAME = 40;

interface Table {
  readonly columns: readonly ConsoleColumn[];
  /** Headings, one text per column. */
  readonly rows: readonly Row[];
}

/**
 * Rows below their headings for a terminal, with columns as wide as their content. Ends with a line
 * break. A table wider than the terminal is folded:
 *
 * - long row names get numbers, and are listed above the table
 * - columns with equal values become a line below it
 * - a last column of text is wrapped
 * - the remaining columns follow as a second table with the same first column
 *
 * @param width columns of the terminal; Infinity: no folding
 */
export function consoleTable(
  columns: readonly ConsoleColumn[],
  cells: readonly (readonly CellValue[])[],
  width = CONSOLE_WIDTH,
): string {
  const rows = cells.map((row) => columns.map((_column, i) => cellText(row[i] ?? '')));
  const table = { columns, rows };
  const all = columns.map((_column, i) => i);
  if (widthOf(all, table) <= width) return printed(all, table);
  return columnWidth(0, table) > LONGEST_NAME ? numbered(table, width) : folded(all, table, width);
}

/** The row names with numbers, then the rows by number. */
function numbered({ columns, rows }: Table, width: number): string {
  let number = 0;
  const next = (name: string): string => (name === '' ? '' : `#${(number += 1)}`);
  const short = rows.map((row) => row.with(0, next(row[0]!)));
  const names = short.flatMap(([key = ''], i) => {
    return key === '' ? [] : wrapWords(`${key} ${rows[i]![0]}`, width, key.length + 1);
  });
  const table = { columns, rows: short };
  const all = columns.map((_column, i) => i);
  const text = widthOf(all, table) <= width ? printed(all, table) : folded(all, table, width);
  return `${names.join('')}\n${text}`;
}

function folded(all: readonly number[], { columns, rows }: Table, width: number): string {
  const same = new Set(all.filter((column) => column > 0 && agrees(column, rows)));
  const shown = all.filter((column) => !same.has(column));
  const notes = [...same].map((column) => `${columns[column]!.name} ${rows[0]![column]}`);
  const note = notes.length === 0 ? '' : wrapWords(`Every row: ${notes.join(', ')}.`, width);
  const parts = partsOf(shown, { columns, rows }, width).map((part) => {
    // Leaves out rows that only continue cells of another part.
    const own = rows.filter((row) => part.some((column) => row[column] !== ''));
    return printed(part, wrapLast(part, { columns, rows: own }, width));
  });
  return parts.join('\n') + note;
}

/** The columns of the smallest number of tables, each with the first column. */
function partsOf(all: readonly number[], table: Table, width: number): number[][] {
  const [first = 0, ...others] = all;
  const parts: number[][] = [[first]];
  const hasRoom = (part: readonly number[]): boolean =>
    width - widthOf(part, table) - GAP.length >= LEAST_TEXT;
  for (const column of others) {
    const part = parts.at(-1)!;
    const fits = part.length === 1 || widthOf([...part, column], table) <= width;
    const isWrapped = column === all.at(-1) && isText(column, table) && hasRoom(part);
    if (fits || isWrapped) part.push(column);
    else parts.push([first, column]);
  }
  return parts;
}

/** Wraps long texts of the last column into further rows. */
function wrapLast(part: readonly number[], table: Table, width: number): Table {
  const last = part.at(-1)!;
  const room = width - widthOf(part.slice(0, -1), table) - GAP.length;
  if (part.length === 1 || !isText(last, table) || room < LEAST_TEXT) return table;
  const rows = table.rows.flatMap((row) => {
    const lines = wrapWords(row[last]!, room).split('\n').slice(0, -1);
    return lines.map((line, i) =>
      i === 0 ? row.with(last, line) : row.map((_text, at) => (at === last ? line : '')),
    );
  });
  return { ...table, rows };
}

function isText(column: number, { columns }: Table): boolean {
  return columns[column]!.align !== 'right';
}

/**
 * Whether all rows have the same value in a column. Rows without a first cell continue the row
 * above, and are skipped.
 */
function agrees(column: number, rows: readonly Row[]): boolean {
  const own = rows.filter(([name]) => name !== '');
  if (own.length < 2) return false;
  return rows.every((row) => row[column] === (row[0] === '' ? '' : own[0]![column]));
}

function widthOf(part: readonly number[], table: Table): number {
  const widths = part.map((column) => columnWidth(column, table));
  return widths.reduce((sum, width) => sum + width, GAP.length * (part.length - 1));
}

function columnWidth(column: number, { columns, rows }: Table): number {
  return Math.max(columns[column]!.name.length, ...rows.map((row) => row[column]!.length));
}

function printed(part: readonly number[], table: Table): string {
  const { columns, rows } = table;
  const widths = part.map((column) => columnWidth(column, table));
  const line = (cells: Row): string => {
    const padded = part.map((column, i) => {
      const text = cells[column]!;
      const isRight = columns[column]!.align === 'right';
      return isRight ? text.padStart(widths[i]!) : text.padEnd(widths[i]!);
    });
    return `${padded.join(GAP).trimEnd()}\n`;
  };
  return [columns.map(({ name }) => name), ...rows].map(line).join('');
}

function cellText(cell: CellValue): string {
  return typeof cell === 'string' ? cell : formatNumber(cell);
}
