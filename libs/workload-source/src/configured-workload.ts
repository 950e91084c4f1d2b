import type { BatonConfig, ResolvedConfig } from '@baton/config';
import { type LoadedWorkload, loadWorkload, type WorkloadContext } from './load-workload';
import type { WorkloadFlags } from './workload-flags';

/** A workload, and the configuration with the KV blocks that it comes in. */
export interface ConfiguredWorkload {
  readonly config: BatonConfig;
  readonly loaded: LoadedWorkload;
  /** Notes for the user, as sentences. */
  readonly notes: readonly string[];
}

export interface ReadingOptions extends Pick<WorkloadContext, 'onProgress'> {
  /** Longest prompt plus output of the engines, tokens. */
  readonly maxModelLen: number;
}

/**
 * The requests of the flags, in the KV blocks that a trace names unless the user chose others.
 *
 * @throws UsageError as `loadWorkload`
 */
export async function configuredWorkload(
  { config: asked, origins, notes }: ResolvedConfig,
  flags: WorkloadFlags,
  options: ReadingOptions,
): Promise<ConfiguredWorkload> {
  const { seed, blockSize } = asked;
  const mayCoarsen = origins.blockSize === 'default';
  const loaded = await loadWorkload(flags, { ...options, seed, blockSize, mayCoarsen });
  const config = { ...asked, blockSize: loaded.workload.contentBlockTokens };
  const own = config.blockSize === blockSize ? [] : [coarseBlocks(config)];
  return { config, loaded, notes: [...notes, ...loaded.notes, ...own] };
}

function coarseBlocks({ blockSize }: BatonConfig): string {
  return (
    `KV blocks of ${blockSize} tokens, in which the trace names what prompts share; ` +
    `--block-size 16 has vLLM's.`
  );
}
