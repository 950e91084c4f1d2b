import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseCsv } from '@baton/kernel';

export const DATA = join(__dirname, '..', '..', 'data');

/** The lines of a shipped file, without its last line break. */
export function readLines(...path: string[]): string[] {
  return readFileSync(join(DATA, ...path), 'utf8')
    .trimEnd()
    .split(/\r?\n/);
}

/** The lines of a shipped gzip file, without its last line break. */
export function readZippedLines(...path: string[]): string[] {
  return gunzipSync(readFileSync(join(DATA, ...path)))
    .toString()
    .trimEnd()
    .split('\n');
}

/** A row by the names of its columns. */
export type CsvRow = Readonly<Record<string, string>>;

/** The rows of a shipped CSV. */
export function rowsOf(...path: string[]): CsvRow[] {
  return cellsIn(readFileSync(join(DATA, ...path), 'utf8'));
}

/** The rows below the line of names. */
export function cellsIn(text: string): CsvRow[] {
  return parseCsv(text).rows.map(({ cells }) => cells);
}
