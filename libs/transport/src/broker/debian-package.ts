import { constants } from 'node:fs';
import { access, mkdtemp, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { makeFolder } from '@baton/kernel';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CacheUnusable, type ServerProgram } from './broker';
import { findProgram } from './find-program';
import { libraryPath } from './private-server';
import { type CommandOutcome, runCommand } from './run-command';

const UPDATE_DEADLINE_MS = 90_000;
const FETCH_DEADLINE_MS = 120_000;
const UNPACK_DEADLINE_MS = 20_000;
const PACKAGE = 'redis-server';
/** Each fetch works in its own folder below the cache folder, so that two do not interfere. */
const WORK = 'fetch-';
/** A work folder older than this belongs to a killed start, because no fetch takes that long. */
const STALE_WORK_MS = 15 * 60_000;
/** Without it, apt only warns of a list that it cannot fetch. Old versions of apt ignore it. */
const ALL_LISTS = ['-o', 'APT::Update::Error-Mode=any'];
/** The package takes about 10 MiB; separate package lists, if needed, take most of the rest. */
const LEAST_FREE_BYTES = 128 * 2 ** 20;

export type FetchOutcome =
  | { readonly kind: 'fetched'; readonly program: ServerProgram; readonly how: string }
  | { readonly kind: 'failed'; readonly why: string };

export interface FetchOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly cacheDirectory?: string | undefined;
  /** Free bytes that the cache folder needs; default: enough for the package. */
  readonly leastFreeBytes?: number;
  /** Options in front of every apt command. */
  readonly aptOptions?: readonly string[];
}

/** True when the distribution's package can be fetched here, with or without root. */
export async function canFetch(environment: NodeJS.ProcessEnv): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const programs = await Promise.all(
    ['apt-get', 'dpkg'].map((name) => findProgram([name], environment)),
  );
  return programs.every((path) => path !== undefined);
}

/** A notice of what `fetchDebianServer` will do, and how to avoid it. */
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
 * downloads the package and its missing dependencies, dpkg unpacks them. The system is not changed,
 * so a start that is killed halfway leaves nothing to repair. Starts that fetch at the same time
 * each unpack a copy; the first one stays.
 *
 * @throws CacheUnusable when the folder cannot be written or is all but full
 */
export async function fetchDebianServer(options: FetchOptions): Promise<FetchOutcome> {
  const folder = cacheFolder(options);
  await claimCache(folder, options.leastFreeBytes ?? LEAST_FREE_BYTES);
  await removeStaleWork(folder);
  const work = await mkdtemp(join(folder, WORK));
  try {
    const outcome = await download(work, options);
    if (outcome.kind === 'failed') return outcome;
    const unpacked = await unpack(work, options);
    return unpacked ?? (await publish(join(work, 'root'), join(folder, 'root'), work));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(work: string, options: FetchOptions): Promise<CommandOutcome> {
  const downloads = join(work, 'downloads');
  makeFolder(downloads);
  const outcome = await downloadPackages(downloads, options);
  if (outcome.kind === 'done') return outcome;
  // The machine's package lists are missing or old, and only root can renew them, so this fetches
  // separate lists.
  const own = {
    ...options,
    aptOptions: [...(options.aptOptions ?? []), ...ownLists(work)],
  };
  const updated = await apt(['update', '-qq', ...ALL_LISTS], UPDATE_DEADLINE_MS, own);
  const retried = await downloadPackages(downloads, own);
  // The error of fetching the lists is more useful than that of a package missing in them.
  return retried.kind === 'failed' && updated.kind === 'failed' ? updated : retried;
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

async function removeStaleWork(folder: string): Promise<void> {
  const oldestMs = Date.now() - STALE_WORK_MS;
  const works = (await readdir(folder)).filter((name) => name.startsWith(WORK));
  for (const path of works.map((name) => join(folder, name))) {
    const madeMs = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    );
    if (madeMs < oldestMs) await rm(path, { recursive: true, force: true });
  }
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

/** Options for lists and an archive in the work folder. */
function ownLists(work: string): string[] {
  const [lists, archives] = [join(work, 'lists'), join(work, 'archives')];
  for (const each of [lists, archives]) makeFolder(join(each, 'partial'));
  return ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${archives}`];
}

/** Undefined when the server is unpacked and runs. */
async function unpack(
  work: string,
  { environment }: FetchOptions,
): Promise<FetchOutcome | undefined> {
  const [downloads, root] = [join(work, 'downloads'), join(work, 'root')];
  for (const file of await readdir(downloads)) {
    const deadlineMs = UNPACK_DEADLINE_MS;
    const args = ['-x', join(downloads, file), root];
    const outcome = await runCommand('dpkg', args, { deadlineMs, environment });
    if (outcome.kind === 'failed') return outcome;
  }
  if ((await unpackedProgram(root)) !== undefined) return undefined;
  return { kind: 'failed', why: 'the unpacked redis-server does not run' };
}

/**
 * Moves an unpacked copy to the folder that every start checks, unless a working copy is already
 * there.
 */
async function publish(copy: string, root: string, work: string): Promise<FetchOutcome> {
  const move = (): Promise<void> => rename(copy, root).catch(() => undefined);
  await move();
  // The move fails when there is already a copy: a working one of another start, or a broken one.
  if ((await unpackedProgram(root)) === undefined) {
    await rename(root, join(work, 'broken')).catch(() => undefined);
    await move();
  }
  const program = await unpackedProgram(root);
  if (program !== undefined) return { kind: 'fetched', program, how: `unpacked into ${root}` };
  return { kind: 'failed', why: `${root} cannot be replaced: remove it and start again` };
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
  // When root runs apt, apt continues as a user without access to a home folder; this option
  // prevents it.
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
