import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure, makeFolder, reasonOf } from '@baton/kernel';

/**
 * Creates the folder for results and tries to write a file in it, before the work starts.
 * Undefined: no folder is set.
 *
 * @throws Failure, one sentence
 */
export function claimFolder(folder: string | undefined, flag: string): void {
  if (folder === undefined) return;
  try {
    makeFolder(folder);
    tryFile(join(folder, `.baton-${process.pid}`));
  } catch (error) {
    throw cannotWrite(`${flag} ${folder}`, error);
  }
}

/**
 * Like `claimFolder`, for a single file, whose folder it creates. The content of an existing file
 * stays until the result is written.
 */
export function claimFile(path: string | undefined, flag: string): void {
  if (path === undefined) return;
  try {
    makeFolder(dirname(path));
    if (existsSync(path)) closeSync(openSync(path, 'a'));
    else tryFile(path);
  } catch (error) {
    throw cannotWrite(`${flag} ${path}`, error);
  }
}

/** One sentence: the file that cannot be written, the reason, and the remedy. */
export function cannotWrite(what: string, error: unknown): Failure {
  return new Failure(
    `${what} cannot be written (${reasonOf(error)}). Choose a writable folder with free space.`,
  );
}

/** Writes one byte too, because a full disk still accepts empty files. */
function tryFile(path: string): void {
  const file = openSync(path, 'wx');
  try {
    writeSync(file, '\n');
  } finally {
    closeSync(file);
    rmSync(path);
  }
}
