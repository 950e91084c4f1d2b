import type { OperatorSource } from '@baton/step-time';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const FOLDER = join(__dirname, '..', '..', 'data', 'operators');

/** The shipped tables, read for specs; nothing is kept between runs. */
export const SHIPPED_OPERATORS: OperatorSource = {
  texts: { read: readShipped },
  cached: () => undefined,
  keep: () => undefined,
};

/** Text of a file in data/operators, or undefined. */
export function readShipped(path: string): string | undefined {
  const file = join(FOLDER, path);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  return existsSync(`${file}.gz`) ? gunzipSync(readFileSync(`${file}.gz`)).toString() : undefined;
}
