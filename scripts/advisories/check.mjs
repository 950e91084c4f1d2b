// Checks the locked packages against the advisories of `known.json`, without a network. The list
// ends on a day; `--update` fetches later advisories from the registry with `npm audit`, adds them,
// and sets the day. Exit code: 1 where a package has one.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../root.mjs';
import { isIn } from './ranges.mjs';

const LIST = fileURLToPath(new URL('./known.json', import.meta.url));
const LOCKS = [
  'package-lock.json',
  'packages/llamacpp/package-lock.json',
  'packages/docs-site/package-lock.json',
  'packages/kv-events/package-lock.json',
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--update')) update();
  process.exitCode = check(lockedPackages(), readList());
}

/** Prints the findings, and the day on which the list ends. */
export function check(packages, { asOf, advisories }) {
  const found = packages.flatMap((locked) => advisoriesOf(locked, advisories));
  for (const { locked, advisory } of found) process.stdout.write(sentence(locked, advisory));
  process.stdout.write(
    `${packages.length} locked packages, ${advisories.length} known advisories as of ${asOf}: ` +
      `${found.length} apply. Later and other ones are unknown here; ` +
      '`node scripts/advisories/check.mjs --update` fetches them.\n',
  );
  return found.length === 0 ? 0 : 1;
}

function sentence({ name, version, lock }, { id, severity, title, range, accepted }) {
  const why = accepted === undefined ? '' : ` (${accepted})`;
  return `${lock}: ${name} ${version} has ${id}, ${severity}: ${title}; ${range}${why}\n`;
}

/** Advisories that apply. An accepted one has its reason in the list, and does not count. */
function advisoriesOf(locked, advisories) {
  return advisories
    .filter(({ name, range, accepted }) => {
      return accepted === undefined && name === locked.name && isIn(locked.version, range);
    })
    .map((advisory) => ({ locked, advisory }));
}

function lockedPackages() {
  return LOCKS.flatMap((lock) => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, lock), 'utf8'));
    return Object.entries(packages)
      .filter(([path, { version, link }]) => path !== '' && version !== undefined && !link)
      .map(([path, { version, name = path.split('node_modules/').at(-1) }]) => {
        return { lock, name, version };
      });
  });
}

function readList() {
  return JSON.parse(readFileSync(LIST, 'utf8'));
}

function update() {
  const list = readList();
  const known = new Map(list.advisories.map((one) => [`${one.id} ${one.name}`, one]));
  for (const one of LOCKS.flatMap(audited)) {
    known.set(`${one.id} ${one.name}`, { ...known.get(`${one.id} ${one.name}`), ...one });
  }
  const advisories = [...known.values()].sort((a, b) => (a.name + a.id < b.name + b.id ? -1 : 1));
  const asOf = new Date().toISOString().slice(0, 10);
  writeFileSync(LIST, `${JSON.stringify({ ...list, asOf, advisories }, undefined, 2)}\n`);
}

/** The registry's advisories for one lock file. @throws Error without an answer */
function audited(lock) {
  const cwd = join(ROOT, dirname(lock));
  const { stdout } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const { vulnerabilities, message } = JSON.parse(stdout);
  if (vulnerabilities === undefined) throw new Error(`npm audit: ${message}`);
  return Object.values(vulnerabilities)
    .flatMap(({ via }) => via)
    .filter((one) => typeof one === 'object')
    .map(({ name, url, severity, title, range }) => {
      return { name, id: url.split('/').at(-1), severity, title, range };
    });
}
