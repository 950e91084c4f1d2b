// The seconds that each suite took on this machine when it last passed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './root.mjs';

const FILE = join(ROOT, 'node_modules', '.cache', 'baton-tests', 'seconds.json');

/** By suite; without those that have not passed here. */
export function keptSeconds() {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}

export function keepSeconds(suite, seconds) {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify({ ...keptSeconds(), [suite]: seconds }));
}
