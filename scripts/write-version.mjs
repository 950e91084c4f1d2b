// Writes the version of package.json into the other files that state it: `npm version` runs this.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.mjs';
import { STATED_AT } from './stated-versions.mjs';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

for (const [path, pattern] of Object.entries(STATED_AT)) {
  const text = readFileSync(join(ROOT, path), 'utf8');
  writeFileSync(join(ROOT, path), text.replace(pattern, version));
}
