import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@baton/kernel';
import { makeFolder } from '@baton/broker';
import { reasonOf } from './system-error';

/**
 * Makes the folder for results and tries a file in it, before the work starts. Undefined: no folder
 * is set.
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

/** The same for a single file. Its content stays until the result is written. */
export function claimFile(path: string | undefined, flag: string): void {
  if (path === undefined) return;
  try {
    if (existsSync(path)) closeSync(openSync(path, 'a'));
    else tryFile(path);
  } catch (error) {
    throw cannotWrite(`${flag} ${path}`, error);
  }
}

/** One sentence: the file that could not be written, why, and what to do. */
export function cannotWrite(what: string, error: unknown): Failure {
  return new Failure(
    `${what} cannot be written (${reasonOf(error)}): name a place that can, with free space.`,
  );
}

/** A byte is written too, for a full disk still takes empty files. */
function tryFile(path: string): void {
  const file = openSync(path, 'wx');
  try {
    writeSync(file, '\n');
  } finally {
    closeSync(file);
    rmSync(path);
  }
}
