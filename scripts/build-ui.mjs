// Builds the live page into dist/apps/ui, unless the build is newer than all its sources.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PAGE = join(ROOT, 'apps', 'ui');
const BUILT = join(ROOT, 'dist', 'apps', 'ui', 'index.html');

if (!isBuilt()) {
  // Loaded only here: loading takes longer than the check for changes.
  const { build } = await import('vite');
  await build({ configFile: join(PAGE, 'vite.config.mts') });
}

function isBuilt() {
  if (!existsSync(BUILT)) return false;
  const builtMs = statSync(BUILT).mtimeMs;
  return inputs().every((path) => statSync(path).mtimeMs <= builtMs);
}

function inputs() {
  const sources = readdirSync(PAGE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
  return [...sources, join(ROOT, 'package-lock.json')];
}
