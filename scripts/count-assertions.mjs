// Counts the assertions of a tree: `node scripts/count-assertions.mjs [GIT-REVISION]`. It prints
// the `expect` calls, laws (`fc.assert`), tests and citations of invariants, so that two revisions
// can be compared.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.mjs';

const COUNTED = {
  'expect calls': /\bexpect(\.\w+)?\(/g,
  'laws (fc.assert)': /\bfc\.assert\(/g,
  'assert calls in tests': /\bassert\(/g,
  tests: /\b(it|test)(\.each\([^)]*\))?\(/g,
  'citations of invariants': /\bINV-\d+/g,
};

const [revision] = process.argv.slice(2);
const texts = testFiles().map(textOf);
for (const [name, pattern] of Object.entries(COUNTED)) {
  const count = texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
  process.stdout.write(`${name}: ${count}\n`);
}
process.stdout.write(`files: ${texts.length}\n`);

function testFiles() {
  const listing = revision
    ? ['ls-tree', '-r', '--name-only', revision]
    : ['ls-files', '--cached', '--others', '--exclude-standard'];
  const isTest = (path) => /\.spec\.ts$|\.test\.mjs$|^test\/.*\.(ts|mjs)$/.test(path);
  return git(...listing)
    .split('\n')
    .filter(isTest);
}

function textOf(path) {
  return revision ? git('show', `${revision}:${path}`) : readFileSync(join(ROOT, path), 'utf8');
}

function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}
