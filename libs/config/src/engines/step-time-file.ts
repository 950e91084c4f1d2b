import { isObject, reasonOf } from '@baton/kernel';
import { kvTimingFromXpydProfile, stepTimeFromProfile, type StepTimeSpec } from '@baton/step-time';
import { readFileSync, statSync } from 'node:fs';
import { parse, YAMLError } from 'yaml';
import { UsageError } from '../usage-error';

const BYTES_MAX = 64 * 2 ** 20;
/** First bytes of a ZIP archive, which NumPy's NPZ is. */
const ARCHIVE = 'PK\u0003\u0004';

/** Names of columns. No line of a mapping has this form. */
const HEADER = /^\s*\w+(\s*,\s*\w+)+\s*(\r?\n|$)/;

/** A file with a step-time model: its text and, unless it is a table, its parsed form. */
export type StepTimeFile =
  | { readonly kind: 'table'; readonly csv: string }
  | { readonly kind: 'profile'; readonly content: unknown };

/**
 * @throws UsageError when the file is missing, too large, or neither CSV nor YAML
 */
export function readStepTimeFile(path: string): StepTimeFile {
  const text = readBounded(path);
  if (text.startsWith(ARCHIVE)) {
    throw new UsageError(
      `step_time_file ${path} is an archive; write the arrays of an NPZ as CSV ` +
        '(docs/step-time.md).',
    );
  }
  if (HEADER.test(text)) return { kind: 'table', csv: text };
  return { kind: 'profile', content: parsed(path, text) };
}

/** The model of a file of any kind. */
export function stepTimeFromFile(path: string): StepTimeSpec {
  const file = readStepTimeFile(path);
  return file.kind === 'table' ? file : stepTimeFromProfile(file.content);
}

/** The file's fit of KV transfers. xPyD-sim keeps it beside those of steps. */
export function kvTimingFromFile(path: string): ReturnType<typeof kvTimingFromXpydProfile> {
  const file = readStepTimeFile(path);
  return file.kind === 'table' ? undefined : kvTimingFromXpydProfile(file.content);
}

/**
 * A profile's entry on the server in front of the engines of its fit: `included` in its steps,
 * fields of a front end, or nothing.
 */
export function frontEndInFile(path: string): unknown {
  const file = readStepTimeFile(path);
  return file.kind === 'profile' && isObject(file.content) ? file.content['front_end'] : undefined;
}

function readBounded(path: string): string {
  try {
    if (statSync(path).size > BYTES_MAX) {
      throw new UsageError(`step_time_file ${path} is larger than ${BYTES_MAX / 2 ** 20} MiB.`);
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`step_time_file ${path} cannot be read: ${reasonOf(error)}.`);
  }
}

function parsed(path: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof YAMLError)) throw error;
    throw new UsageError(`step_time_file ${path} cannot be read: ${reasonOf(error)}.`);
  }
}
