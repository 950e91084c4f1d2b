import { type BatonConfig, UsageError } from '@baton/config';
import { vllmMinorOf } from './vllm-minor';

/**
 * Since vLLM 0.14 asynchronous scheduling is on by default (release notes of v0.14.0), with drafts
 * of EAGLE, MTP and draft models too (vllm-project/vllm#31998).
 */
const DEFAULT_SINCE_MINOR = 14;

/**
 * Whether engines form a batch while the one before runs.
 *
 * @throws UsageError when it is asked for beside what it is not modelled with
 */
export function asyncScheduling(config: BatonConfig): boolean {
  if (config.pipelineParallelSize > 1) {
    if (config.asyncScheduling !== true) return false;
    throw new UsageError(
      'async_scheduling does not go with pipeline_parallel_size: stages have a queue of batches ' +
        'of their own; leave async_scheduling out.',
    );
  }
  return config.asyncScheduling ?? vllmMinorOf(config) >= DEFAULT_SINCE_MINOR;
}
