// Makes the tree ready to run with Node's own modules only: `npm start` and `npm test` begin here on a fresh clone.
// Installs when node_modules does not hold what the lock file asks for, and builds when a source is newer than the last build.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.built');
/** The live page, which is not compiled file by file. */
const PAGE = join(DIST, 'apps', 'ui');
const OLDEST_NODE = [20, 19];

requireNode();
if (!isInstalled())
  run('npm', ['ci', '--include=dev'], 'Installing dependencies (once, about a minute) ...');
if (!isBuilt()) build();

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  fail(`Baton needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}.`);
}

/** npm writes what it has installed into a hidden lock; every package we lock must stand there in the same version. */
function isInstalled() {
  const hidden = join(ROOT, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const installed = readJson(hidden).packages;
  return Object.entries(readJson(join(ROOT, 'package-lock.json')).packages).every(
    ([path, wanted]) =>
      path === '' || wanted.optional === true || installed[path]?.version === wanted.version,
  );
}

function isBuilt() {
  if (!existsSync(STAMP)) return false;
  const builtMs = statSync(STAMP).mtimeMs;
  const inputs = [join(ROOT, '.swcrc'), join(ROOT, 'package-lock.json'), ...sources()];
  if (!existsSync(PAGE)) return false;
  return inputs.every((path) => statSync(path).mtimeMs <= builtMs) && orphans().length === 0;
}

function build() {
  const startedMs = Date.now();
  run('npm', ['run', '--silent', 'build'], 'Building ...');
  for (const path of orphans()) rmSync(path);
  writeFileSync(STAMP, '');
  // What was edited while the compiler ran is newer than the stamp, and is built next time.
  utimesSync(STAMP, new Date(startedMs), new Date(startedMs));
}

function sources() {
  return ['apps', 'libs', 'bench'].flatMap((folder) =>
    filesBelow(join(ROOT, folder)).filter(isSource),
  );
}

function isSource(path) {
  const isOfPage = path.startsWith(join(ROOT, 'apps', 'ui')) && /\.(css|html|mts)$/.test(path);
  return isOfPage || (/\.(ts|js)$/.test(path) && !path.endsWith('.spec.ts'));
}

/** Compiled files whose source is gone: they could still be loaded and would then lie about the tree. */
function orphans() {
  return filesBelow(DIST).filter((path) => {
    if (!path.endsWith('.js') || path.startsWith(PAGE)) return false;
    const source = join(ROOT, relative(DIST, path));
    return !existsSync(source) && !existsSync(source.replace(/\.js$/, '.ts'));
  });
}

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(`${sep}node_modules`))
    .map((entry) => join(entry.parentPath, entry.name));
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function run(command, args, announcement) {
  process.stderr.write(`${announcement}\n`);
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) fail(`'${command} ${args.join(' ')}' failed.`);
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
