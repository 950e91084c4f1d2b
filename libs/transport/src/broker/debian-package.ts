import { constants } from 'node:fs';
import { access, readdir, rm, statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from './make-folder';
import { CacheUnusable, type ServerProgram } from './broker';
import { findProgram } from './find-program';
import { libraryPath } from './private-server';
import { type CommandOutcome, runCommand } from './run-command';

const UPDATE_DEADLINE_MS = 90_000;
const FETCH_DEADLINE_MS = 120_000;
const UNPACK_DEADLINE_MS = 20_000;
const PACKAGE = 'redis-server';
/** What a download leaves in the cache folder until the package is unpacked. */
const TEMPORARY = ['downloads', 'lists', 'archives'];
/** The package takes some 10 MiB; lists of our own, where they are needed, most of the rest. */
const LEAST_FREE_BYTES = 128 * 2 ** 20;

export type FetchOutcome =
  | { readonly kind: 'fetched'; readonly program: ServerProgram; readonly how: string }
  | { readonly kind: 'failed'; readonly why: string };

export interface FetchOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly cacheDirectory?: string | undefined;
  /** What must be free in the cache folder, in bytes; enough for the package unless given. */
  readonly leastFreeBytes?: number;
  /** Options in front of every apt command. */
  readonly aptOptions?: readonly string[];
}

/** The distribution's package can be fetched here, root or not. */
export async function canFetch(environment: NodeJS.ProcessEnv): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const programs = await Promise.all(
    ['apt-get', 'dpkg'].map((name) => findProgram([name], environment)),
  );
  return programs.every((path) => path !== undefined);
}

/** What `fetchDebianServer` will do, and how to avoid it. */
export function fetchNotice(options: FetchOptions): string {
  return (
    `No redis-server here: apt-get downloads Debian’s package ${PACKAGE} and what it needs into ` +
    `${cacheFolder(options)}, for Baton alone; nothing is installed. ` +
    'To avoid it, set REDIS_URL or BATON_INSTALL=never, or start with --broker in-process.'
  );
}

/** The server that an earlier start unpacked, if it still runs. */
export function findUnpacked(options: FetchOptions): Promise<ServerProgram | undefined> {
  return unpackedProgram(join(cacheFolder(options), 'root'));
}

/**
 * Unpacks the distribution's package into a cache folder, where the next start finds it: apt
 * downloads the package and whatever it needs that is not there, dpkg unpacks them. The system
 * stays as it is, so that a start that is killed halfway leaves nothing to put right.
 *
 * @throws CacheUnusable when the folder cannot be written or is all but full
 */
export async function fetchDebianServer(options: FetchOptions): Promise<FetchOutcome> {
  const folder = cacheFolder(options);
  const downloads = join(folder, 'downloads');
  await claimCache(folder, options.leastFreeBytes ?? LEAST_FREE_BYTES);
  for (const old of ['root', ...TEMPORARY]) await removeIn(folder, old);
  makeFolder(downloads);
  try {
    let outcome = await downloadPackages(downloads, options);
    if (outcome.kind === 'failed') {
      // This machine's package lists are missing or old, and only root may renew them: fetch lists
      // of our own.
      const own = { ...options, aptOptions: [...(options.aptOptions ?? []), ...ownLists(folder)] };
      const updated = await apt(['update', '-qq'], UPDATE_DEADLINE_MS, own);
      // The error of the lists says more than that a package is not in them.
      if (updated.kind === 'failed') return updated;
      outcome = await downloadPackages(downloads, own);
    }
    return outcome.kind === 'failed' ? outcome : await unpackInto(folder, downloads, options);
  } finally {
    for (const name of TEMPORARY) await removeIn(folder, name);
  }
}

/** @throws CacheUnusable */
async function claimCache(folder: string, leastFreeBytes: number): Promise<void> {
  try {
    makeFolder(folder);
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize >= leastFreeBytes) return;
  } catch (error) {
    throw new CacheUnusable(folder, (error as NodeJS.ErrnoException).code ?? String(error));
  }
  throw new CacheUnusable(folder, `less than ${leastFreeBytes / 2 ** 20} MiB are free`);
}

function removeIn(folder: string, name: string): Promise<void> {
  return rm(join(folder, name), { recursive: true, force: true });
}

/** `--print-uris` plans an installation without root: one line per missing package. */
async function downloadPackages(directory: string, options: FetchOptions): Promise<CommandOutcome> {
  const plan = ['install', '--print-uris', '-qq', '--no-install-recommends', PACKAGE];
  const planned = await apt(plan, UPDATE_DEADLINE_MS, options);
  if (planned.kind === 'failed') return planned;
  const files = [...planned.output.matchAll(/^'[^']+' (\S+?)_/gm)].map((match) => match[1] ?? '');
  // Nothing is missing: the package is installed, but not on the PATH that was given.
  const packages = files.length > 0 ? files : [PACKAGE, 'redis-tools'];
  return apt(['download', '-qq', ...packages], FETCH_DEADLINE_MS, { ...options, directory });
}

/** Options for lists and an archive in the cache folder. */
function ownLists(folder: string): string[] {
  const [lists, archives] = [join(folder, 'lists'), join(folder, 'archives')];
  for (const each of [lists, archives]) makeFolder(join(each, 'partial'));
  return ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${archives}`];
}

async function unpackInto(
  folder: string,
  downloads: string,
  { environment }: FetchOptions,
): Promise<FetchOutcome> {
  const root = join(folder, 'root');
  for (const file of await readdir(downloads)) {
    const deadlineMs = UNPACK_DEADLINE_MS;
    const unpack = ['-x', join(downloads, file), root];
    const outcome = await runCommand('dpkg', unpack, { deadlineMs, environment });
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
  { environment, aptOptions = [], directory }: FetchOptions & { readonly directory?: string },
): Promise<CommandOutcome> {
  // As root, apt would go on as a user that has no access to a home folder.
  const asSelf = process.getuid?.() === 0 ? ['-o', 'APT::Sandbox::User=root'] : [];
  return runCommand('apt-get', [...asSelf, ...aptOptions, ...args], {
    deadlineMs,
    environment: { ...environment, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
    ...(directory === undefined ? {} : { directory }),
  });
}

function cacheFolder({ cacheDirectory, environment }: FetchOptions): string {
  const caches = environment['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return cacheDirectory ?? join(caches, 'baton', 'redis');
}
