// The folder in which vitest keeps compiled modules for the next run.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

/** They decide how each module is compiled. */
const RECIPES = ['.swcrc', 'tsconfig.json', 'package-lock.json'];
/** The modules in them import each other. */
const SOURCES = ['apps', 'libs', 'test', 'bench', 'validation', 'scripts'];
/** Beside the present one. A run that began before a change of the files still uses its own. */
const KEPT_FOLDERS = 2;

/**
 * Vitest names each module by a hash of its text. A compiled module also contains the paths that
 * its imports have led to, so each list of files has a folder of its own. The folders that were
 * used last are kept.
 */
export function moduleCache(root) {
  const cache = join(root, 'node_modules', '.cache', 'baton-modules');
  const hash = createHash('sha1');
  for (const name of RECIPES) hash.update(readFileSync(join(root, name)));
  for (const name of SOURCES) {
    const paths = readdirSync(join(root, name), { recursive: true, encoding: 'utf8' });
    hash.update(paths.sort().join('\n'));
  }
  const folder = join(cache, hash.digest('hex'));
  mkdirSync(folder, { recursive: true });
  utimesSync(folder, new Date(), new Date());
  const others = readdirSync(cache).map((name) => join(cache, name));
  removeOldest(others.filter((path) => path !== folder));
  return folder;
}

function removeOldest(folders) {
  const usedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const used = folders.map((path) => ({ path, ms: usedMs(path) })).sort((a, b) => b.ms - a.ms);
  for (const { path } of used.slice(KEPT_FOLDERS)) rmSync(path, { recursive: true, force: true });
}
