import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Generated folders. */
const MADE = new Set(['.git', 'node_modules', 'dist', 'coverage', 'out', '.baton']);

/** Paths of all files of the repository below `folder`, from its root, with forward slashes. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (MADE.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return [relative('.', path).split(sep).join('/')];
  });
}

export function allFiles(): string[] {
  return filesBelow('.');
}

export function foldersIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function readJson(path: string): unknown {
  return JSON.parse(read(path));
}

export function isCode(path: string): boolean {
  return /\.(ts|mts|mjs|cjs)$/.test(path);
}

/** `path:line` of every line in which `pattern` occurs. */
export function occurrences(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );
}
