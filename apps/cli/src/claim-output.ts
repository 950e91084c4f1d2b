import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@baton/kernel';
import { makeFolder } from '@baton/transport';
import { reasonOf } from './system-error';

/**
 * Makes the folder that results are to go to and tries a file in it, before the work that is to
 * be kept there. Undefined: none is wanted.
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

/** The same for a single file. What is in it stays until the result is there. */
export function claimFile(path: string | undefined, flag: string): void {
  if (path === undefined) return;
  try {
    if (existsSync(path)) closeSync(openSync(path, 'a'));
    else tryFile(path);
  } catch (error) {
    throw cannotWrite(`${flag} ${path}`, error);
  }
}

/** One sentence on what could not be written, why, and what to do. */
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
