import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { reasonOf } from '@baton/kernel';
import { findModel, geometryFromConfig, type ModelGeometry } from '@baton/hardware';
import type { BatonConfig } from '../config';
import { UsageError } from '../usage-error';

const BYTES_MAX = 4 * 2 ** 20;
const FILE = 'config.json';

/**
 * The model of an option: the path of a `config.json`, or of a folder with one, or a name of the
 * catalogue. A path ends in `.json`, or begins with `.` or `/`.
 *
 * @param accepted  fields that may be ignored although their names concern the shape of the model
 *
 * @throws UsageError when the file cannot be read; HardwareError for an unknown name or an unusable
 * file
 */
export function modelOf(name: string, accepted: readonly string[] = []): ModelGeometry {
  return isPath(name) ? modelFromFile(name, accepted) : findModel(name);
}

/** One sentence on the fields of a model's file that have no effect, or none. */
export function modelNotes({ model, acceptUnknownConfig }: BatonConfig): string[] {
  if (!isPath(model)) return [];
  const { unusedFields = [] } = modelOf(model, acceptUnknownConfig);
  if (unusedFields.length === 0) return [];
  return [`Fields of ${fileOf(model)} without an effect here: ${unusedFields.join(', ')}.`];
}

/** The folder of a model that is named by a path. Undefined: its name is in the catalogue. */
export function modelFolderOf(name: string): string | undefined {
  return isPath(name) ? dirname(resolve(fileOf(name))) : undefined;
}

function isPath(name: string): boolean {
  return /^[./]/.test(name) || name.endsWith('.json');
}

function modelFromFile(path: string, accepted: readonly string[]): ModelGeometry {
  const file = fileOf(path);
  return geometryFromConfig(readJson(file), nameOf(resolve(file)), accepted);
}

/** A `config.json` has the name of its folder, as for published models; other files their own. */
function nameOf(file: string): string {
  return basename(file) === FILE ? basename(dirname(file)) : basename(file, extname(file));
}

function fileOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new UsageError(`model ${path} does not exist.`);
  if (!found.isDirectory()) return path;
  const file = join(path, FILE);
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return file;
  throw new UsageError(`model folder ${path} has no ${FILE}.`);
}

function readJson(file: string): unknown {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > BYTES_MAX) throw new UsageError(`model ${file} is larger than ${BYTES_MAX} bytes.`);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`model ${file} cannot be read: ${reasonOf(error)}.`);
  }
}
