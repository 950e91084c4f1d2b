import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Folder of a package outside of the main installation, by its path in the repository, for sources
 * and compiled code alike. Undefined when there is none.
 */
export function optionalFolder(path: string, from = __dirname): string | undefined {
  const folder = join(from, path);
  if (existsSync(folder)) return folder;
  const parent = dirname(from);
  return parent === from ? undefined : optionalFolder(path, parent);
}

/** A CommonJS module of such a package, if it is installed. */
export function requireFrom(folder: string, module: string): unknown {
  return createRequire(join(folder, 'package.json'))(module);
}
