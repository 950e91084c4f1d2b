// Prepares the tree for a run, with Node's own modules only: `npm start` and `npm test` start it on
// a fresh clone. It installs when node_modules differs from the lock file, and builds when a source
// is newer than the last build.
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
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
import { refusal } from '../bin/required-node.cjs';
import { reasonOf } from './failed-command.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.built');
/** The live page and the bundles are not compiled file by file. */
const WHOLE = [join(DIST, 'apps', 'ui'), join(DIST, 'bundles')];
/** Has the guide too, which is built apart from the rest and may be missing. */
const NOT_COMPILED = [...WHOLE, join(DIST, 'site')].map((folder) => `${folder}${sep}`);

const sentence = refusal(process.versions.node);
if (sentence !== undefined) fail(sentence);
if (!isInstalled()) install();
if (!isBuilt()) build();

/**
 * npm lists its installed packages in a hidden lock. Every locked package must be there in the same
 * version.
 */
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
  if (!WHOLE.every(existsSync)) return false;
  return inputs.every((path) => statSync(path).mtimeMs <= builtMs) && orphans().length === 0;
}

function install() {
  requireWritable('installed');
  run(['ci', '--include=dev'], {
    announcement: 'Installing dependencies (once, about a minute) ...',
    undone: 'The dependencies are not installed',
  });
}

function build() {
  requireWritable('built');
  const startedMs = Date.now();
  run(['run', '--silent', 'build'], {
    announcement: 'Building ...',
    undone: 'Baton is not built',
  });
  try {
    for (const path of orphans()) rmSync(path);
    writeFileSync(STAMP, '');
    // A file that changes while the compiler runs is newer than the stamp, so the next run builds
    // it.
    utimesSync(STAMP, new Date(startedMs), new Date(startedMs));
  } catch (error) {
    fail(`Baton is not built: ${reasonOf(String(error))}`);
  }
}

/** A complete build also runs from a read-only tree. */
function requireWritable(done) {
  const kept = ['node_modules', 'dist'].map((name) => join(ROOT, name)).filter(existsSync);
  try {
    for (const folder of [ROOT, ...kept]) accessSync(folder, constants.W_OK);
  } catch ({ code }) {
    fail(
      `Baton is not ${done} yet and ${ROOT} cannot be written (${code}): run \`npm run prepare-tree\` there as a user who may, or take a copy that can be written.`,
    );
  }
}

function sources() {
  return ['apps', 'libs', 'bench', 'validation'].flatMap((folder) =>
    filesBelow(join(ROOT, folder)).filter(isSource),
  );
}

function isSource(path) {
  const isOfPage = path.startsWith(join(ROOT, 'apps', 'ui')) && /\.(css|html|mts)$/.test(path);
  return isOfPage || (/\.(ts|js)$/.test(path) && !isOfTests(path));
}

/** Specs, and their shared code: `apps/<app>/test` and `libs/<lib>/test`. */
function isOfTests(path) {
  const [, , folder] = relative(ROOT, path).split(sep);
  return path.endsWith('.spec.ts') || folder === 'test';
}

/**
 * Compiled files without a source: they could still be loaded, though the tree no longer has them.
 */
function orphans() {
  return filesBelow(DIST).filter((path) => {
    if (!isCompiled(path)) return false;
    const source = join(ROOT, relative(DIST, path));
    const sources = [source, source.replace(/\.js$/, '.ts')];
    return isOfTests(source) || !sources.some(existsSync);
  });
}

function isCompiled(path) {
  return path.endsWith('.js') && !NOT_COMPILED.some((folder) => path.startsWith(folder));
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

/** npm's own output is hidden: one sentence gives its result. */
function run(args, { announcement, undone }) {
  process.stderr.write(`${announcement}\n`);
  const outcome = spawnSync('npm', args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (outcome.status === 0) return;
  const said = outcome.error?.message ?? `${outcome.stdout}\n${outcome.stderr}`;
  fail(`${undone}: ${reasonOf(said)}`);
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
