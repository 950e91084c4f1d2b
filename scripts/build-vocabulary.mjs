// Writes the default vocabulary as a table beside the compiled tokenizers, unless the table is
// newer than all its sources. A process reads it in a few ms.
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = ['package-lock.json', 'libs/text/src/tokenizers/token-table.ts'];
const COMPILED = join(ROOT, 'dist', 'libs', 'text', 'src', 'tokenizers', 'named-tokenizers.js');

const { O200K_FILE, o200kTable } = createRequire(import.meta.url)(COMPILED);

if (!isWritten()) writeFileSync(O200K_FILE, o200kTable().toFile());

function isWritten() {
  if (!existsSync(O200K_FILE)) return false;
  const writtenMs = statSync(O200K_FILE).mtimeMs;
  return SOURCES.every((path) => statSync(join(ROOT, path)).mtimeMs <= writtenMs);
}
