import { readFileSync, statSync } from 'node:fs';
import { parse, YAMLError } from 'yaml';
import { reasonOf } from '@baton/kernel';
import { UsageError } from '../usage-error';

const BYTES_MAX = 2 ** 20;

export interface GivenFields {
  readonly content: unknown;
  /** The user's input, for errors. */
  readonly where: string;
}

/**
 * The fields that an option has between braces, or in the YAML or JSON file that it names (its path
 * begins with `.` or `/`, or ends in `.yaml`, `.yml` or `.json`). Undefined: the option is a name.
 *
 * @param option  its name, for errors
 * @throws UsageError when the file or the fields cannot be read
 */
export function givenFields(option: string, given: string): GivenFields | undefined {
  if (given.startsWith('{')) return parsed(option, given, 'fields');
  if (!/^[./]|\.(ya?ml|json)$/.test(given)) return undefined;
  return parsed(option, readContent(option, given), given);
}

function readContent(option: string, path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new UsageError(`${option} ${path} does not exist.`);
  if (found.size > BYTES_MAX)
    throw new UsageError(`${option} ${path} is larger than ${BYTES_MAX} bytes.`);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${option} ${path} cannot be read: ${reasonOf(error)}.`);
  }
}

function parsed(option: string, text: string, where: string): GivenFields {
  try {
    return { content: parse(text), where };
  } catch (error) {
    if (!(error instanceof YAMLError)) throw error;
    throw new UsageError(`${option} ${where} cannot be read: ${reasonOf(error)}.`);
  }
}
