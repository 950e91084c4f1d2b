import { readFileSync } from 'node:fs';
import type { ClusterScenario, EngineCache } from '@baton/simulation';
import { fileName, UsageError } from '@baton/config';
import { contentNameOf, contentsNamed } from '@baton/workload';
import { RETIMING } from './load/arrival-flags';
import { type WorkloadFlags } from './load/workload-flags';
import type { PreparedReplay } from './prepare-replay';

/** Facts that must be equal where caches are saved and where they are used. */
interface Circumstances {
  readonly model: string;
  readonly topology: string;
  readonly data_parallel_size: number;
  readonly block_size: number;
  /** Identifies how block names were made; equal names then mean equal contents. */
  readonly contents: string;
}

/**
 * The prefix caches of a cluster: the content of the files of `--save-cache` and `--warm-start`.
 */
export interface SavedCaches extends Circumstances {
  readonly baton_caches: 1;
  /** The name of the trace or dataset. */
  readonly workload: string;
  readonly engines: readonly SavedCache[];
}

interface SavedCache {
  readonly role: string;
  /** Index among the engines of its role, from 0. */
  readonly index: number;
  /** Names of the contents of its free blocks, in the order of eviction; 0: never found again. */
  readonly blocks: readonly number[];
  /** Their groups of layers. Omitted where all are in the first group. */
  readonly groups?: readonly number[];
}

type Replayed = Pick<PreparedReplay, 'config' | 'loaded'>;

/** @param caches of the engines at the end of the run */
export function cachesText(
  prepared: Replayed,
  flags: WorkloadFlags,
  caches: readonly EngineCache[],
): string {
  const { workload, source } = prepared.loaded;
  const nameOf = contentNameOf(workload);
  const engines = caches.map(({ role, place, freeOrder, freeGroups }): SavedCache => {
    const first = freeOrder.findIndex((content) => content > 0);
    const from = first < 0 ? freeOrder.length : first;
    // A preempted request gives its own blocks names below 0.
    const names = freeOrder.slice(from).map((content) => (content > 0 ? nameOf(content) : 0));
    const groups = freeGroups.slice(from);
    const isGrouped = groups.some((group) => group > 0);
    return { role, index: place, blocks: names, ...(isGrouped && { groups }) };
  });
  const header = { baton_caches: 1, workload: source.name, ...circumstances(prepared, flags) };
  const lines = engines.map((engine) => JSON.stringify(engine));
  return `${JSON.stringify(header).slice(0, -1)},"engines":[\n${lines.join(',\n')}\n]}\n`;
}

/** @throws UsageError, one sentence */
export function readCaches(path: string): SavedCaches {
  let saved: unknown;
  try {
    saved = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : 'the file cannot be read';
    throw new UsageError(`--warm-start ${path}: ${reason}.`);
  }
  if (isSavedCaches(saved)) return saved;
  throw new UsageError(`--warm-start ${path}: it is not a file that --save-cache wrote.`);
}

/**
 * The scenario with these caches at the start of its engines.
 *
 * @throws UsageError when the caches belong to another cluster or to other contents
 */
export function withCaches(
  scenario: ClusterScenario,
  saved: SavedCaches,
  { replayed, flags, path }: { replayed: Replayed; flags: WorkloadFlags; path: string },
): ClusterScenario {
  const ours = circumstances(replayed, flags);
  for (const [key, value] of Object.entries(ours)) {
    const theirs = saved[key as keyof Circumstances];
    if (theirs === value) continue;
    throw new UsageError(
      `--warm-start ${path} was saved with ${key} ${theirs}, and this replay has ${value}.`,
    );
  }
  const contents = contentsNamed(scenario.workload, new Set(saved.engines.flatMap(blocksOf)));
  const pools = scenario.pools.map((pool) => ({
    ...pool,
    warmCaches: Array.from({ length: pool.count }, (_, place) => {
      const engine = saved.engines.find(({ role, index }) => role === pool.role && index === place);
      const freeOrder = (engine?.blocks ?? []).map((name) => contents.get(name) ?? 0);
      return { freeOrder, freeGroups: engine?.groups ?? [] };
    }),
  }));
  return { ...scenario, pools };
}

/** A sentence for the user when the caches come from another trace. */
export function noteOnCaches({ workload }: SavedCaches, { loaded }: Replayed): string[] {
  if (workload === loaded.source.name) return [];
  return [`The caches are from ${workload}: equal ids count as equal contents.`];
}

function circumstances({ config, loaded }: Replayed, flags: WorkloadFlags): Circumstances {
  const { model, topology, dataParallelSize, blockSize, seed } = config;
  const { source } = loaded;
  const contents = source.kind === 'trace' ? source.format : madeUp(source.name, flags, seed);
  return { model, topology, data_parallel_size: dataParallelSize, block_size: blockSize, contents };
}

/** Generated contents depend on everything except the instants of arrival. */
function madeUp(dataset: string, flags: WorkloadFlags, seed: number): string {
  const isOfTime = new Set<string>(RETIMING);
  const requested = Object.entries(flags).filter(
    ([name]) => !isOfTime.has(name) && name !== 'dataset',
  );
  const all = [...requested.map(([name, value]) => [fileName(name), value]), ['seed', seed]];
  return [dataset, ...all.map(([name, value]) => `${name}=${value}`).sort()].join(' ');
}

function blocksOf({ blocks }: SavedCache): readonly number[] {
  return blocks;
}

function isSavedCaches(value: unknown): value is SavedCaches {
  const { baton_caches, engines } = (value ?? {}) as Partial<SavedCaches>;
  return baton_caches === 1 && Array.isArray(engines) && engines.every(isSavedCache);
}

function isSavedCache(value: unknown): value is SavedCache {
  const { role, index, blocks, groups = [] } = (value ?? {}) as Partial<SavedCache>;
  const isWhole = (each: unknown): boolean => Number.isSafeInteger(each) && Number(each) >= 0;
  const isList = (list: unknown): boolean => Array.isArray(list) && list.every(isWhole);
  return typeof role === 'string' && isWhole(index) && isList(blocks) && isList(groups);
}
