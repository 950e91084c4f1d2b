import { access, mkdir, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ServerProgram } from './broker';
import { findProgram } from './find-program';
import { libraryPath } from './private-server';
import { type CommandOutcome, runCommand } from './run-command';

const UPDATE_DEADLINE_MS = 90_000;
const FETCH_DEADLINE_MS = 120_000;
const UNPACK_DEADLINE_MS = 20_000;
const PACKAGE = 'redis-server';
const POLICY = '/usr/sbin/policy-rc.d';

export type FetchOutcome =
  | { readonly kind: 'fetched'; readonly program: ServerProgram; readonly how: string }
  | { readonly kind: 'failed'; readonly why: string };

export interface FetchOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly cacheDirectory?: string | undefined;
  /** Options in front of every apt command. */
  readonly aptOptions?: readonly string[];
}

/** What `fetchDebianServer` would do here, or undefined where it can do nothing. */
export async function debianWay(
  environment: NodeJS.ProcessEnv,
): Promise<'install' | 'unpack' | undefined> {
  if (process.platform !== 'linux') return undefined;
  if ((await findProgram(['apt-get'], environment)) === undefined) return undefined;
  if ((await findProgram(['dpkg'], environment)) === undefined) return undefined;
  return process.getuid?.() === 0 ? 'install' : 'unpack';
}

/**
 * The distribution's package: installed as root, else unpacked into a cache folder, where the next
 * start finds it.
 */
export async function fetchDebianServer(options: FetchOptions): Promise<FetchOutcome> {
  const way = await debianWay(options.environment);
  if (way === undefined) return { kind: 'failed', why: 'no apt-get here' };
  return way === 'install' ? installPackage(options.environment) : unpackPackage(options);
}

/** What an earlier start has unpacked, if it still runs. */
export function findUnpacked(options: FetchOptions): Promise<ServerProgram | undefined> {
  return unpackedProgram(join(cacheFolder(options), 'root'));
}

/**
 * As root. The package's own service must neither start nor come up with the machine: our servers
 * are private.
 */
async function installPackage(environment: NodeJS.ProcessEnv): Promise<FetchOutcome> {
  const hasPolicy = await exists(POLICY);
  if (!hasPolicy) await writeFile(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const install = ['install', '-y', '-qq', '--no-install-recommends', PACKAGE];
    let outcome = await apt(install, FETCH_DEADLINE_MS);
    if (outcome.kind === 'failed') {
      await apt(['update', '-qq'], UPDATE_DEADLINE_MS);
      outcome = await apt(install, FETCH_DEADLINE_MS);
    }
    if (outcome.kind === 'failed') return outcome;
    await runCommand('systemctl', ['disable', '--now', PACKAGE], { deadlineMs: 5_000 });
  } finally {
    if (!hasPolicy) await unlink(POLICY);
  }
  const path = await findProgram([PACKAGE], environment);
  if (path === undefined) return { kind: 'failed', why: 'the package brought no redis-server' };
  return { kind: 'fetched', program: { path }, how: 'installed by apt-get' };
}

/**
 * Without root: apt downloads the package and whatever it needs that is not there, dpkg unpacks
 * them.
 */
export async function unpackPackage(options: FetchOptions): Promise<FetchOutcome> {
  const folder = cacheFolder(options);
  const downloads = join(folder, 'downloads');
  for (const old of ['root', 'downloads']) {
    await rm(join(folder, old), { recursive: true, force: true });
  }
  await mkdir(downloads, { recursive: true });
  let outcome = await downloadPackages(downloads, options.aptOptions ?? []);
  if (outcome.kind === 'failed') {
    // This machine's package lists are missing or old, and only root may renew them: fetch lists of
    // our own.
    const own = [...(options.aptOptions ?? []), ...(await ownLists(folder))];
    await apt([...own, 'update', '-qq'], UPDATE_DEADLINE_MS);
    outcome = await downloadPackages(downloads, own);
  }
  return outcome.kind === 'failed' ? outcome : unpackInto(join(folder, 'root'), downloads);
}

/**
 * `--print-uris` plans an installation without the right to do it: one line per package that is
 * missing.
 */
async function downloadPackages(
  directory: string,
  aptOptions: readonly string[],
): Promise<CommandOutcome> {
  const plan = ['install', '--print-uris', '-qq', '--no-install-recommends', PACKAGE];
  const planned = await apt([...aptOptions, ...plan], UPDATE_DEADLINE_MS);
  if (planned.kind === 'failed') return planned;
  const files = [...planned.output.matchAll(/^'[^']+' (\S+?)_/gm)].map((match) => match[1] ?? '');
  // Nothing is missing: the package is installed, but not on the PATH that was given.
  const packages = files.length > 0 ? files : [PACKAGE, 'redis-tools'];
  return apt([...aptOptions, 'download', '-qq', ...packages], FETCH_DEADLINE_MS, directory);
}

async function ownLists(folder: string): Promise<string[]> {
  const lists = join(folder, 'lists');
  const archives = join(folder, 'archives');
  await mkdir(join(lists, 'partial'), { recursive: true });
  await mkdir(join(archives, 'partial'), { recursive: true });
  return ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${archives}`];
}

async function unpackInto(root: string, downloads: string): Promise<FetchOutcome> {
  for (const file of await readdir(downloads)) {
    const unpack = ['-x', join(downloads, file), root];
    const outcome = await runCommand('dpkg', unpack, { deadlineMs: UNPACK_DEADLINE_MS });
    if (outcome.kind === 'failed') return outcome;
  }
  const program = await unpackedProgram(root);
  if (program === undefined)
    return { kind: 'failed', why: 'the unpacked redis-server does not run' };
  return { kind: 'fetched', program, how: `unpacked into ${root}` };
}

/**
 * Debian's `redis-server` is a link to another program of the same package set; all that counts is
 * that it runs under this name.
 */
async function unpackedProgram(root: string): Promise<ServerProgram | undefined> {
  const folders: string[] = [];
  for (const base of ['usr/lib', 'lib']) {
    const inside = await readdir(join(root, base)).catch(() => []);
    folders.push(...inside.map((name) => join(root, base, name)));
  }
  const program = { path: join(root, 'usr/bin', PACKAGE), libraryPath: folders.join(':') };
  const environment = { ...process.env, ...libraryPath(program) };
  const outcome = await runCommand(program.path, ['--version'], { deadlineMs: 3_000, environment });
  return outcome.kind === 'done' ? program : undefined;
}

function apt(
  args: readonly string[],
  deadlineMs: number,
  directory?: string,
): Promise<CommandOutcome> {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const at = directory === undefined ? {} : { directory };
  return runCommand('apt-get', args, { deadlineMs, environment, ...at });
}

function cacheFolder({ cacheDirectory, environment }: FetchOptions): string {
  const caches = environment['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return cacheDirectory ?? join(caches, 'baton', 'redis');
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
