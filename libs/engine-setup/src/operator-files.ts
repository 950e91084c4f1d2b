import type { OperatorSource, TabulatedStep } from '@baton/step-time';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
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
import { OwnOperators } from './own-operators';

export interface OperatorPlaces {
  /** Folder of tables of the user's own; undefined: the shipped ones alone. */
  readonly own?: string | undefined;
  /** Folder in which tabulated steps are kept. */
  readonly cache?: string;
}

/**
 * The measured operators in data/operators, the user's own over them, and steps tabulated from both
 * in the user's cache folder. Files are read when they are asked for. A cache that cannot be read
 * or written only costs the time of tabulating again.
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
    kept: (key) => keptStep(file(whole(key)), whole(key)),
    keep: (key, step) => keepStep(file(whole(key)), whole(key), step),
  };
}

/**
 * A folder of operator tables of the user's own, over the shipped ones. A process lists and sums
 * it once.
 */
export function ownOperators(folder: string): OwnOperators {
  const known = opened.get(folder) ?? new OwnOperators(folder, { read: readTable });
  opened.set(folder, known);
  return known;
}

const opened = new Map<string, OwnOperators>();

/** Tabulated steps of this process, which several engines share. */
const here = new Map<string, TabulatedStep>();
const HERE_MAX = 256;
/** Files of the cache folder, of some 40 kB each; the oldest go first. */
const FILES_MAX = 256;

function readTable(path: string): string | undefined {
  const file = join(dataFolder(), path);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const packed = `${file}.gz`;
  return existsSync(packed) ? gunzipSync(readFileSync(packed)).toString('latin1') : undefined;
}

/** From the sources as well as from the build. */
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

/** What is kept holds for the tables that it was made of, which are named with their sums. */
let tables: string | undefined;

function tablesSum(): string {
  return (tables ??= sha256(readTable('SHA256SUMS') ?? '').slice(0, 16));
}

function fileOf(key: string): string {
  return `${sha256(key).slice(0, 32)}.json`;
}

/**
 * Head and steps are a line each. The key stands beside the numbers, so that an equal hash of
 * another key is not taken for it; the sum finds a file that was cut or changed.
 */
interface KeptHead {
  readonly key: string;
  readonly sha256: string;
}

function keptStep(path: string, key: string): TabulatedStep | undefined {
  const own = here.get(path);
  if (own !== undefined) return own;
  try {
    const [head = '', steps = ''] = readFileSync(path, 'utf8').split('\n');
    const kept = JSON.parse(head) as KeptHead;
    if (kept.key !== key || kept.sha256 !== sha256(steps)) return undefined;
    const step = JSON.parse(steps) as TabulatedStep;
    remember(path, step);
    return step;
  } catch {
    return undefined;
  }
}

/** Written beside and renamed, so that another process never reads half a file. */
function keepStep(path: string, key: string, step: TabulatedStep): void {
  remember(path, step);
  const draft = `${path}.${process.pid}-${threadId}`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    const steps = JSON.stringify(step);
    const head: KeptHead = { key, sha256: sha256(steps) };
    writeFileSync(draft, `${JSON.stringify(head)}\n${steps}\n`);
    renameSync(draft, path);
    dropOldest(dirname(path));
  } catch {
    // A folder that cannot be written: tabulate again next time. A draft goes when it is old.
  }
}

/** Drafts that a killed process left count too. */
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
