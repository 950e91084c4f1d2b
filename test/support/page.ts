import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A page of the repository; the cells of its tables are without the padding that prettier adds. */
export function pageText(path: string): string {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return text.replace(/^\|.*$/gm, (row) => row.replace(/ {2,}/g, ' ').replace(/-{3,}/g, '---'));
}
