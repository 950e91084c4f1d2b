import { readFileSync } from 'node:fs';
import { reasonOf } from '@baton/kernel';
import { UsageError } from './usage-error';

/** The text of a file that an option names. @throws UsageError that names option and file */
export function readOptionFile(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${option}: ${path} cannot be read: ${reasonOf(error)}.`);
  }
}
