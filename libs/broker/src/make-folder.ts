import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. Node's recursive `mkdir` does not end where a folder exists
 * but takes none inside, as `/proc` does: there, it retries the parent without bound.
 *
 * @throws the error of the system
 */
export function makeFolder(path: string): void {
  if (tryMake(path)) return;
  makeFolder(dirname(path));
  if (!tryMake(path)) mkdirSync(path);
}

/** False: the folder above is missing, or says so. */
function tryMake(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
}
