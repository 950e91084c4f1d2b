import type { BatonConfig } from '@baton/config';
import { isObject } from '@baton/kernel';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Hashes of the contents of files, by their paths. */
export type FileSums = Readonly<Record<string, string>>;

/** Files that a live cluster writes; no run of a search opens them. */
const WRITTEN: readonly (keyof BatonConfig)[] = [
  ...(['record', 'logSteps', 'recordAnswers', 'logRequests', 'logFrames'] as const),
];
/** The file that is read from the folder of a model. */
const MODEL_FILE = 'config.json';
/** Folders of measured operators are this deep. */
const DEEPEST = 2;

/**
 * The files and folders that the options of these configurations name: policies, step times, GPUs,
 * models, operators. Any text that is the path of a file counts, because more counts than is read
 * only repeats a trial.
 */
export function filesNamedIn(...configs: readonly object[]): string[] {
  const paths = new Set<string>();
  for (const config of configs) {
    for (const [option, value] of Object.entries(config)) {
      const isWritten = WRITTEN.some((written) => written === option);
      if (!isWritten) for (const text of textsIn(value)) if (kindOf(text)) paths.add(text);
    }
  }
  return [...paths].sort();
}

/** The sums of files; a path without a file has the sum of no content. */
export function sumsOf(paths: readonly string[]): FileSums {
  return Object.fromEntries(paths.map((path) => [path, hashFiles(path)]));
}

function hashFiles(path: string): string {
  const sum = createHash('sha256');
  for (const file of filesAt(path, DEEPEST)) {
    // The path to the file differs between machines; its name within the folder does not.
    sum
      .update(`${file.slice(path.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return sum.digest('hex').slice(0, 32);
}

function filesAt(path: string, depth: number): string[] {
  const kind = kindOf(path);
  if (kind === undefined) return [];
  if (kind === 'file') return [path];
  const model = join(path, MODEL_FILE);
  if (kindOf(model) === 'file') return [model];
  if (depth === 0) return [];
  const names = readdirSync(path).sort();
  return names.flatMap((name) => filesAt(join(path, name), depth - 1));
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  if (path === '' || path.includes('\0')) return undefined;
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() === true) return 'file';
    return found?.isDirectory() === true ? 'folder' : undefined;
  } catch {
    // A text that no path can be, because it is too long or leads through a file.
    return undefined;
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
