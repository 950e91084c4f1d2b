import { UsageError } from '@baton/config';
import { existsSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { cannotWrite } from '../claim-output';
import { EXAMPLE_POLICY, EXAMPLE_TEST } from './example';

/**
 * Writes a commented policy and its test into the working directory, or the folder in `name`.
 *
 * @returns the paths of both files
 * @throws UsageError when one of them exists; Failure when one cannot be written
 */
export function writeExample(name: string): readonly string[] {
  const path = name.replace(/\.m?js$/, '');
  const files = [
    { path: `${path}.mjs`, text: EXAMPLE_POLICY },
    { path: `${path}.test.mjs`, text: EXAMPLE_TEST },
  ];
  const taken = files.find((file) => existsSync(file.path));
  if (taken !== undefined) throw new UsageError(`${taken.path} exists; choose another name.`);
  for (const file of files) write(file.path, file.text.replaceAll('NAME', basename(path)));
  return files.map((file) => file.path);
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
