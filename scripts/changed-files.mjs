import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.mjs';

/**
 * Files that the working tree or the commits since `main` have changed. On `main` itself also those
 * of the last commit. Undefined without git data, as in an unpacked archive.
 */
export function changedFiles(pattern) {
  const base = mainBase();
  if (base === undefined) return undefined;
  const changed = git('diff', '--name-only', '--diff-filter=d', base);
  const fresh = git('ls-files', '--others', '--exclude-standard');
  if (changed === undefined || fresh === undefined) return undefined;
  const names = new Set(`${changed}\n${fresh}`.split('\n'));
  return [...names].filter((name) => pattern.test(name) && existsSync(join(ROOT, name)));
}

function mainBase() {
  const head = git('rev-parse', 'HEAD');
  for (const branch of ['origin/main', 'main']) {
    const base = git('merge-base', 'HEAD', branch);
    if (base !== undefined && base !== head) return base;
  }
  return git('rev-parse', 'HEAD~1');
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
