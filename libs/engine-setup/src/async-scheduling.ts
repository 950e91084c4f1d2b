import { type BatonConfig, UsageError } from '@baton/config';
import { vllmMinorOf } from './vllm-minor';

/**
 * First version with asynchronous scheduling by default: vLLM 0.14 (release notes of v0.14.0), also
 * with drafts of EAGLE, MTP and draft models (vllm-project/vllm#31998).
 */
const DEFAULT_SINCE_MINOR = 14;

/**
 * True when engines form a batch while the previous one runs.
 *
 * @throws UsageError when it is set together with an option that its model excludes
 */
export function asyncScheduling(config: BatonConfig): boolean {
  if (config.pipelineParallelSize > 1) {
    if (config.asyncScheduling !== true) return false;
    throw new UsageError(
      'async_scheduling excludes pipeline_parallel_size: stages have a queue of batches ' +
        'of their own. Remove async_scheduling.',
    );
  }
  return config.asyncScheduling ?? vllmMinorOf(config) >= DEFAULT_SINCE_MINOR;
}
