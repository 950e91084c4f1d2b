import { findGpu, type Gpu, gpuFromFields } from '@baton/hardware';
import { readFileSync, statSync } from 'node:fs';
import { parse, YAMLError } from 'yaml';
import { UsageError } from '../usage-error';

const BYTES_MAX = 2 ** 20;

/**
 * The GPU that an option names: fields between braces, the path of a YAML or JSON file with them
 * (it begins with `.` or `/`, or ends in `.yaml`, `.yml` or `.json`), else a name of the catalogue.
 *
 * @throws UsageError when the file cannot be read; HardwareError for a name or fields of no use
 */
export function gpuOf(given: string): Gpu {
  if (given.startsWith('{')) return gpuFromFields(parsed(given, 'fields'), 'fields');
  if (!isPath(given)) return findGpu(given);
  return gpuFromFields(parsed(contentOf(given), given), given);
}

function isPath(given: string): boolean {
  return /^[./]|\.(ya?ml|json)$/.test(given);
}

function contentOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new UsageError(`gpu ${path} does not exist.`);
  if (found.size > BYTES_MAX)
    throw new UsageError(`gpu ${path} is larger than ${BYTES_MAX} bytes.`);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`gpu ${path} cannot be read: ${why}.`);
  }
}

function parsed(text: string, where: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof YAMLError)) throw error;
    throw new UsageError(`gpu ${where} cannot be read: ${error.message.split('\n')[0]}`);
  }
}
