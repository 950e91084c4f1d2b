import { type BatonConfig, modelNotes, type ResolvedConfig } from '@baton/config';
import { type LoadedWorkload, loadWorkload, type WorkloadContext } from './load-workload';
import type { WorkloadFlags } from './workload-flags';

/** A workload, and the configuration with its KV block size. */
export interface ConfiguredWorkload {
  readonly config: BatonConfig;
  readonly loaded: LoadedWorkload;
  /** Notes for the user, as sentences. */
  readonly notes: readonly string[];
}

export interface ReadingOptions extends Pick<WorkloadContext, 'onProgress' | 'isGrowing'> {
  /** Largest sum of prompt and output of the engines, tokens. */
  readonly maxModelLen: number;
}

/**
 * The requests of the flags, in the KV blocks of the trace unless the user sets others.
 *
 * @throws UsageError as `loadWorkload`
 */
export async function configuredWorkload(
  { config: requested, origins, notes }: ResolvedConfig,
  flags: WorkloadFlags,
  options: ReadingOptions,
): Promise<ConfiguredWorkload> {
  const { seed, blockSize } = requested;
  const mayCoarsen = origins.blockSize === 'default';
  const loaded = await loadWorkload(flags, { ...options, seed, blockSize, mayCoarsen });
  const config = { ...requested, blockSize: loaded.workload.contentBlockTokens };
  const own = config.blockSize === blockSize ? [] : [coarseBlocks(config)];
  return { config, loaded, notes: [...notes, ...modelNotes(requested), ...loaded.notes, ...own] };
}

function coarseBlocks({ blockSize }: BatonConfig): string {
  return (
    `KV blocks have ${blockSize} tokens, as the block ids of the trace; ` +
    `--block-size 16 sets vLLM's size.`
  );
}
