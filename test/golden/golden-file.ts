import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/**
 * Compares bytes with a committed file. `WRITE_GOLDEN=1` rewrites the files: read the difference
 * before you commit it, because clients get these bytes. A missing file is a failure.
 */
export function expectGolden(name: string, bytes: string): void {
  const path = join(__dirname, name);
  if (process.env['WRITE_GOLDEN'] === '1') writeFileSync(path, bytes);
  expect(existsSync(path), `${name} is committed`).toBe(true);
  expect(bytes).toBe(readFileSync(path, 'utf8'));
}
