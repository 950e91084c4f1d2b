import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ErrorRow, parseErrorTable } from './error-table';

/** The shipped table, beside the sources and beside the build. */
export const ERROR_TABLE = join('data', 'errors', 'serving.csv');

let shipped: readonly ErrorRow[] | undefined;

/** The errors learned from published serving points; data/errors/README.md. */
export function shippedErrors(): readonly ErrorRow[] {
  shipped ??= parseErrorTable(readFileSync(join(rootFolder(), ERROR_TABLE), 'utf8'));
  return shipped;
}

/** The folder that has `data`. */
export function rootFolder(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'data', 'operators')) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return folder;
}
