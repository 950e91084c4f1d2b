import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Folder of a package that the main installation has nothing of, by its path in the repository.
 * Beside the sources as beside what is compiled. Undefined: there is none.
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
