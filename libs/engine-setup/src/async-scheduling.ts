import { type BatonConfig, UsageError } from '@baton/config';

/** Since vLLM 0.14 asynchronous scheduling is on by default (release notes of v0.14.0). */
const DEFAULT_SINCE_MINOR = 14;

/**
 * Whether engines form a batch while the one before runs.
 *
 * @throws UsageError when it is asked for beside what it is not modelled with
 */
export function asyncScheduling(config: BatonConfig, vllmMinor: number): boolean {
  const why = limitOf(config);
  if (config.asyncScheduling === true && why !== undefined) {
    throw new UsageError(`async_scheduling ${why}; leave async_scheduling out.`);
  }
  if (why !== undefined) return false;
  return config.asyncScheduling ?? vllmMinor >= DEFAULT_SINCE_MINOR;
}

function limitOf({ numSpeculativeTokens, pipelineParallelSize }: BatonConfig): string | undefined {
  if (numSpeculativeTokens > 0) {
    return 'does not go with num_speculative_tokens: drafts of unknown length are not modelled';
  }
  if (pipelineParallelSize > 1) {
    return 'does not go with pipeline_parallel_size: stages have a queue of batches of their own';
  }
  return undefined;
}
