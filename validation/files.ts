import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

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

/** The rows of a shipped CSV without quotes. */
export function rowsOf(...path: string[]): CsvRow[] {
  return csvRows(readLines(...path));
}

/** The rows below the line of names, of a CSV without quotes. */
export function csvRows([head = '', ...lines]: readonly string[]): CsvRow[] {
  const names = head.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((name, i) => [name, cells[i] ?? '']));
  });
}
