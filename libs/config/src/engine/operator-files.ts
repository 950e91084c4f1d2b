import type { OperatorSource, TabulatedStep } from '@baton/step-time';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/**
 * The measured operators in data/operators, and steps tabulated from them in the user's cache
 * folder. Files are read when they are asked for. A cache that cannot be read or written only costs
 * the time of tabulating again.
 */
export function operatorFiles(cache = cacheFolder(process.env)): OperatorSource {
  return {
    texts: { read: readTable },
    kept: (key) => keptStep(join(cache, fileOf(key)), key),
    keep: (key, step) => keepStep(join(cache, fileOf(key)), key, step),
  };
}

/** Tabulated steps of this process, which several engines share. */
const here = new Map<string, TabulatedStep>();
const HERE_MAX = 256;

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

function fileOf(key: string): string {
  return `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`;
}

/** The key is kept beside the numbers, so that an equal hash of another key is not taken for it. */
interface Kept {
  readonly key: string;
  readonly step: TabulatedStep;
}

function keptStep(path: string, key: string): TabulatedStep | undefined {
  const own = here.get(path);
  if (own !== undefined) return own;
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Kept;
    if (kept.key !== key) return undefined;
    remember(path, kept.step);
    return kept.step;
  } catch {
    return undefined;
  }
}

/** Written beside and renamed, so that another process never reads half a file. */
function keepStep(path: string, key: string, step: TabulatedStep): void {
  remember(path, step);
  try {
    mkdirSync(dirname(path), { recursive: true });
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, JSON.stringify({ key, step } satisfies Kept));
    renameSync(draft, path);
  } catch {
    // A read-only home: tabulate again next time.
  }
}

function remember(path: string, step: TabulatedStep): void {
  if (here.size >= HERE_MAX) here.clear();
  here.set(path, step);
}
