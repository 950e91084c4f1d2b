import { csvFields } from '@baton/kernel';
import type { TableLayout } from './table-layout';

/** One point: its place in the columns before `us`, and the times measured there. */
export interface OwnPoint {
  /** All columns but the last, joined. Points of one curve are adjacent. */
  readonly curve: string;
  readonly place: readonly string[];
  readonly us: number[];
}

/** The fault of an unusable table: the line of the file, from 1, and the reason. */
export interface TableProblem {
  readonly line: number;
  readonly complaint: string;
}

/** Points by place, in the order of the file. */
export type OwnTable = ReadonlyMap<string, OwnPoint>;

const COLUMN_MAX = 2 ** 40;
/** Longest time of one call, µs: 100 s. */
const US_MAX = 1e8;

/** Reads a user's table; a place may have several rows, each a measurement. */
export function readOwnTable(csv: string, layout: TableLayout): OwnTable | TableProblem {
  const [header = '', ...lines] = csv.split(/\r?\n/);
  const wanted = [...layout.columns, 'us'].join(',');
  if (header.trim() !== wanted) {
    const rule = `the columns must be ${wanted} (us: microseconds of one call)`;
    return { line: 1, complaint: `${rule}, not '${header}'` };
  }
  const points = new Map<string, OwnPoint>();
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const fields = csvFields(line);
    const complaint = wrongField(fields, layout);
    if (complaint !== undefined) return { line: i + 2, complaint };
    addPoint(points, fields);
  }
  return points.size > 0 ? points : { line: 1, complaint: 'the table has no rows' };
}

export function isProblem(read: OwnTable | TableProblem): read is TableProblem {
  return 'complaint' in read;
}

function addPoint(points: Map<string, OwnPoint>, fields: readonly string[]): void {
  const place = fields.slice(0, -1).map(canonical);
  const key = place.join(',');
  const point = points.get(key) ?? { curve: place.slice(0, -1).join(','), place, us: [] };
  points.set(key, point);
  point.us.push(Number(fields.at(-1)));
}

/** `016` and `16` are one place. */
function canonical(field: string): string {
  const value = Number(field);
  return Number.isNaN(value) ? field : String(value);
}

function wrongField(fields: readonly string[], layout: TableLayout): string | undefined {
  const { columns, texts = {}, mayBeZero = [] } = layout;
  if (fields.length !== columns.length + 1) {
    return `there must be ${columns.length + 1} fields, not ${fields.length}`;
  }
  for (const [i, column] of columns.entries()) {
    const field = fields[i]!;
    const pattern = texts[column];
    if (pattern !== undefined) {
      if (!pattern.test(field)) return `${column} must be like ${pattern.source}, not '${field}'`;
      continue;
    }
    const least = mayBeZero.includes(column) ? 0 : 1;
    const value = field === '' ? NaN : Number(field);
    if (!Number.isInteger(value) || value < least || value > COLUMN_MAX) {
      return `${column} must be a whole number from ${least}, not '${field}'`;
    }
  }
  const us = Number(fields.at(-1) || NaN);
  if (us > 0 && us <= US_MAX) return undefined;
  return `us must be a time above 0 and up to ${US_MAX} microseconds, not '${fields.at(-1)}'`;
}
