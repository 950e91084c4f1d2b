import type { OperatorSource, TabulatedStep } from '@baton/step-time';
import { createHash } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { makeFolder } from '@baton/kernel';
import { OwnOperators } from './own-operators';

export interface OperatorPlaces {
  /** Folder of the user's own tables. Undefined: only the shipped ones. */
  readonly own?: string | undefined;
  /** Folder of the cache of tabulated steps. */
  readonly cache?: string;
}

/**
 * The measured operators in data/operators under the user's own, and steps tabulated from both in
 * the user's cache folder. Files are read on first use. An unusable cache costs only the time of
 * tabulating again.
 *
 * @throws UsageError when the folder of own tables cannot be used
 */
export function operatorFiles(places: OperatorPlaces = {}): OperatorSource {
  const { cache = cacheFolder(process.env) } = places;
  const own = places.own === undefined ? undefined : ownOperators(places.own);
  const sums = own === undefined ? tablesSum() : `${tablesSum()} ${own.sum()}`;
  const whole = (key: string): string => `${key} ${sums}`;
  const file = (key: string): string => join(cache, fileOf(key));
  return {
    texts: own ?? { read: readTable },
    ...(own === undefined
      ? {}
      : { ownSum: own.sum(), ownOf: (system: string) => own.describe(system) }),
    cached: (key) => readCachedStep(file(whole(key)), whole(key)),
    keep: (key, step) => writeCachedStep(file(whole(key)), whole(key), step),
  };
}

/**
 * A folder of the user's own operator tables, over the shipped ones. A process lists it and
 * computes its sum once.
 */
export function ownOperators(folder: string): OwnOperators {
  const known = opened.get(folder) ?? new OwnOperators(folder, { read: readTable });
  opened.set(folder, known);
  return known;
}

const opened = new Map<string, OwnOperators>();

/** Tabulated steps of this process, shared by several engines. */
const here = new Map<string, TabulatedStep>();
const HERE_MAX = 256;
/** Files of the cache folder, of some 40 kB each. The oldest are deleted first. */
const FILES_MAX = 256;

function readTable(path: string): string | undefined {
  const file = join(dataFolder(), path);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const packed = `${file}.gz`;
  return existsSync(packed) ? gunzipSync(readFileSync(packed)).toString('latin1') : undefined;
}

/** Works from the sources and from the build. */
function dataFolder(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'data', 'operators')) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return join(folder, 'data', 'operators');
}

function cacheFolder(env: NodeJS.ProcessEnv): string {
  const own = env['BATON_CACHE_DIR'];
  if (own) return join(own, 'steps');
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'baton', 'steps');
}

/** Tabulated steps are valid only for the tables that they were made of, named with their sums. */
let tables: string | undefined;

function tablesSum(): string {
  return (tables ??= sha256(readTable('SHA256SUMS') ?? '').slice(0, 16));
}

function fileOf(key: string): string {
  return `${sha256(key).slice(0, 32)}.json`;
}

/**
 * Head and steps are a line each. The key stands beside the numbers, so that a hash collision is
 * detected. The sum detects a file that was cut or changed.
 */
interface CachedHead {
  readonly key: string;
  readonly sha256: string;
}

function readCachedStep(path: string, key: string): TabulatedStep | undefined {
  const own = here.get(path);
  if (own !== undefined) return own;
  try {
    const [head = '', steps = ''] = readFileSync(path, 'utf8').split('\n');
    const cached = JSON.parse(head) as CachedHead;
    if (cached.key !== key || cached.sha256 !== sha256(steps)) return undefined;
    const step = JSON.parse(steps) as TabulatedStep;
    remember(path, step);
    return step;
  } catch {
    return undefined;
  }
}

/** Written under another name and renamed, so that another process never reads half a file. */
function writeCachedStep(path: string, key: string, step: TabulatedStep): void {
  remember(path, step);
  const draft = `${path}.${process.pid}-${threadId}`;
  try {
    makeFolder(dirname(path));
    const steps = JSON.stringify(step);
    const head: CachedHead = { key, sha256: sha256(steps) };
    writeFileSync(draft, `${JSON.stringify(head)}\n${steps}\n`);
    renameSync(draft, path);
    dropOldest(dirname(path));
  } catch {
    // The folder is not writable: tabulate again next time. Old drafts are deleted.
  }
}

/** Counts drafts of killed processes too. */
function dropOldest(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= FILES_MAX) return;
  const aged = names.map((name) => {
    const file = join(folder, name);
    return { file, mtimeMs: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  aged.sort((a, b) => a.mtimeMs - b.mtimeMs);
  for (const { file } of aged.slice(0, names.length - FILES_MAX)) rmSync(file, { force: true });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function remember(path: string, step: TabulatedStep): void {
  if (here.size >= HERE_MAX) here.clear();
  here.set(path, step);
}
