import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. Node's recursive `mkdir` does not end when a folder exists but
 * accepts none inside, such as `/proc`: it retries the parent without limit.
 *
 * @throws the error of the system
 */
export function makeFolder(path: string): void {
  if (tryMake(path)) return;
  makeFolder(dirname(path));
  if (!tryMake(path)) mkdirSync(path);
}

/** False when the parent folder is missing or reported missing. */
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
