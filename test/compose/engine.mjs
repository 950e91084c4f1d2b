/* global clearTimeout */
// The Docker engine of the test: the running one, or one that is started in a separate folder and
// stopped again. Debian's packages are installed where programs are missing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { findCompose } from './find-compose.mjs';
import { leaveNoRules, rulesNow } from './firewall.mjs';
import { demand, execute, until } from './shell.mjs';

/** Each program and its Debian package. `tc` and `nsenter` delay packets. */
const PROGRAMS = {
  docker: 'docker.io',
  dockerd: 'docker.io',
  debootstrap: 'debootstrap',
  iptables: 'iptables',
  ip: 'iproute2',
  nsenter: 'util-linux',
};
/** Images and the build cache stay here for the next run. */
const KEPT = join(homedir(), '.cache', 'baton', 'compose-engine');
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];
/** From this version on the client builds with BuildKit only beside its plugin buildx. */
const BUILDX_SINCE = 23;

/**
 * @returns `env` for clients of the engine, the words that start `compose`, whether this test
 * started the engine, and `close`. Throws with the reason when no engine is available.
 */
export async function obtainEngine(say) {
  const path = [process.env.PATH, ...SYSTEM_FOLDERS].join(delimiter);
  const env = {
    ...process.env,
    PATH: path,
    DOCKER_BUILDKIT: '1',
    COMPOSE_DOCKER_CLI_BUILD: '1',
    BUILDKIT_PROGRESS: 'plain',
  };
  if (!(await answers(env))) return startedEngine(env, say);
  await installMissing(['docker', 'debootstrap', 'nsenter'], env, say);
  const ready = await withBuilder(env);
  return {
    env: ready,
    compose: await composeOf(ready, say),
    isOurs: false,
    close: () => undefined,
  };
}

async function answers(env) {
  return (await execute(['docker', 'version'], { env, deadlineMs: 20_000 })).code === 0;
}

async function startedEngine(env, say) {
  if (process.platform !== 'linux' || process.getuid() !== 0) {
    throw new Error('No Docker engine runs, and only root on Linux can start one. Start Docker.');
  }
  await installMissing(Object.keys(PROGRAMS), env, say);
  mkdirSync(KEPT, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'baton-engine-'));
  const socket = `unix://${join(folder, 'docker.sock')}`;
  const before = await rulesNow(env);
  const daemon = startDaemon(folder, socket, env);
  const ours = { ...env, DOCKER_HOST: socket };
  const close = async () => {
    await stopDaemon(daemon);
    await leaveNoRules(before, env);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const isUp = async () => daemon.exitCode !== null || (await answers(ours));
    await until('dockerd answers', isUp, { deadlineMs: 120_000 });
    if (daemon.exitCode !== null) throw new Error(`dockerd ended: ${lastWords(folder)}`);
    const ready = await withBuilder(ours);
    return { env: ready, compose: await composeOf(ready, say), isOurs: true, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function startDaemon(folder, socket, env) {
  const log = openSync(join(folder, 'log'), 'w');
  const daemon = spawn(
    'dockerd',
    [
      ...['--host', socket, '--data-root', KEPT, '--exec-root', join(folder, 'exec')],
      ...['--pidfile', join(folder, 'pid')],
    ],
    { env, stdio: ['ignore', log, log] },
  );
  closeSync(log);
  daemon.once('error', () => undefined);
  return daemon;
}

/** dockerd ends its containers first. Containers that do not end are killed. */
async function stopDaemon(daemon) {
  if (daemon.exitCode !== null || daemon.pid === undefined) return;
  const gone = once(daemon, 'exit');
  daemon.kill('SIGTERM');
  const timer = setTimeout(() => daemon.kill('SIGKILL'), 60_000);
  await gone;
  clearTimeout(timer);
}

function lastWords(folder) {
  return readFileSync(join(folder, 'log'), 'utf8').trim().split('\n').slice(-5).join('\n');
}

/**
 * The policy file keeps a package's service from starting; it is also removed when apt is
 * interrupted.
 */
const INSTALL = `
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' INT TERM HUP
  printf '#!/bin/sh\\nexit 101\\n' > "$policy" && chmod 755 "$policy"
fi
apt-get install -y --no-install-recommends "$@" || { apt-get update && apt-get install -y --no-install-recommends "$@"; }
`;

async function installMissing(programs, env, say) {
  const missing = programs.filter((program) => !onPath(program, env));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((program) => PROGRAMS[program] ?? program))];
  if (process.getuid() !== 0 || !onPath('apt-get', env)) {
    throw new Error(`These are missing: ${missing.join(', ')}. Install ${packages.join(', ')}.`);
  }
  say(`installing ${packages.join(', ')} with apt-get`);
  const options = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' } };
  await demand(['sh', '-c', INSTALL, 'install', ...packages], options);
}

function onPath(program, env) {
  return placesOf(program, env).length > 0;
}

function placesOf(program, { PATH }) {
  return PATH.split(delimiter).filter((folder) => existsSync(join(folder, program)));
}

/** Several clients may be installed; the one that builds with BuildKit comes first on the PATH. */
async function withBuilder(env) {
  for (const folder of placesOf('docker', env)) {
    const docker = join(folder, 'docker');
    const { stdout } = await execute([docker, 'version', '--format', '{{.Client.Version}}'], {
      env,
    });
    const needsPlugin = Number.parseInt(stdout, 10) >= BUILDX_SINCE;
    if (needsPlugin && (await execute([docker, 'buildx', 'version'], { env })).code !== 0) continue;
    return { ...env, PATH: [dirname(docker), env.PATH].join(delimiter) };
  }
  throw new Error('The docker client does not build with BuildKit. Install the plugin buildx.');
}

/** The Compose of this machine, or Debian's. */
async function composeOf(env, say) {
  let found = await findCompose(env);
  if (found === undefined) {
    await installMissing(['docker-compose'], env, say);
    found = await findCompose(env);
  }
  if (found === undefined) throw new Error('docker-compose does not run.');
  say(`compose: ${found.way.join(' ')} ${found.version}`);
  return found.way;
}
