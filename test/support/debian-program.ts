import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const POLICY = '/usr/sbin/policy-rc.d';
const CACHE = join(homedir(), '.cache', 'baton');

/**
 * A program of a Debian package: on the PATH, or installed now (as root), or unpacked into a cache folder. Undefined where it cannot be had; a test
 * that needs it then says so and counts as skipped.
 */
export function debianProgram(program: string, fromPackage: string): string | undefined {
  return onPath(program) ?? unpacked(program, fromPackage) ?? fetched(program, fromPackage);
}

/** Completes `context.skip`. */
export function missing(program: string, fromPackage: string): string {
  return `${program} is not here and apt cannot install the package ${fromPackage}: NOT TESTED`;
}

function fetched(program: string, fromPackage: string): string | undefined {
  if (onPath('apt-get') === undefined) return undefined;
  if (process.getuid?.() === 0) {
    install(fromPackage);
    return onPath(program);
  }
  const folder = join(CACHE, fromPackage);
  mkdirSync(folder, { recursive: true });
  if (!run('apt-get', ['download', '-qq', fromPackage], folder)) return undefined;
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
    run('dpkg', ['-x', file, 'root'], folder);
  }
  return unpacked(program, fromPackage);
}

/** The package's own service must not start. */
function install(fromPackage: string): void {
  const hasPolicy = existsSync(POLICY);
  if (!hasPolicy) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  const command = ['install', '-y', '-qq', '--no-install-recommends', fromPackage];
  if (!run('apt-get', command)) {
    run('apt-get', ['update', '-qq']);
    run('apt-get', command);
  }
  if (!hasPolicy) unlinkSync(POLICY);
}

function unpacked(program: string, fromPackage: string): string | undefined {
  const path = join(CACHE, fromPackage, 'root', 'usr', 'bin', program);
  return existsSync(path) ? path : undefined;
}

function onPath(program: string): string | undefined {
  const { stdout, status } = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function run(command: string, args: readonly string[], cwd?: string): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const options = { env, timeout: 120_000, ...(cwd === undefined ? {} : { cwd }) };
  return spawnSync(command, args, options).status === 0;
}
