// Gets programs of Debian packages for the suites that need them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { chromiumPath } from './chromium.mjs';

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'baton');
const APT_MS = 300_000;

/** Unpacked into a cache folder, with or without root, so that Debian's service never starts. */
export async function prometheusOnPath() {
  if (onPath('prometheus') && onPath('promtool')) return [];
  const folder = join(CACHE, 'prometheus');
  const programs = join(folder, 'root', 'usr', 'bin');
  if (!existsSync(join(programs, 'promtool'))) unpack('prometheus', folder);
  return [programs];
}

/**
 * Chromium needs many libraries, so apt-get installs it: as root, or by a sudo without a password.
 */
export async function chromiumOnPath() {
  if (chromiumPath() === undefined) install('chromium');
  return [];
}

/** Debian's python3 creates no virtual environments until another package is installed. */
export async function pythonOnPath() {
  if (run(['python3', '-c', 'import venv, ensurepip']) !== '') install('python3-venv');
  return [];
}

function install(name) {
  const prefix = process.getuid() === 0 ? [] : ['sudo', '-n'];
  const by = `${[...prefix, 'apt-get'].join(' ')} install ${name}`;
  say(`${name} is not installed; installing Debian’s package (${by}).`);
  requireApt(name);
  const command = [...prefix, 'apt-get', 'install', '-y', '-qq', '--no-install-recommends', name];
  if (run(command) === '') return;
  run([...prefix, 'apt-get', 'update', '-qq']);
  const failure = run(command);
  if (failure !== '') throw new Error(`${name} is not installed, and '${by}' failed: ${failure}`);
}

function unpack(name, folder) {
  say(`${name} is not installed; unpacking Debian’s package ${name} into ${folder}.`);
  requireApt(name);
  mkdirSync(folder, { recursive: true });
  let failure = run(['apt-get', 'download', '-qq', name], folder);
  if (failure !== '' && process.getuid() === 0) {
    run(['apt-get', 'update', '-qq']);
    failure = run(['apt-get', 'download', '-qq', name], folder);
  }
  for (const file of readdirSync(folder).filter((path) => path.endsWith('.deb'))) {
    failure ||= run(['dpkg', '-x', file, 'root'], folder);
  }
  if (failure === '') return;
  const hint = `Install the package ${name}, or run 'apt-get update' as root.`;
  throw new Error(
    `${name} is not installed, and 'apt-get download ${name}' failed: ${failure} ${hint}`,
  );
}

function requireApt(name) {
  if (!onPath('apt-get'))
    throw new Error(`Neither ${name} nor apt-get is installed. Install ${name}.`);
}

function onPath(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

/** The last line that a failed command printed; empty when it succeeded. */
function run([command, ...args], cwd = dirname(CACHE)) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const options = { cwd: existsSync(cwd) ? cwd : '/', env, timeout: APT_MS, encoding: 'utf8' };
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (status === 0) return '';
  const said = `${stdout ?? ''}\n${stderr ?? ''}`.trim().split('\n').at(-1);
  return error?.message ?? (said || `exit code ${status}`);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
