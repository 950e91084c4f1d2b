import { type BatonConfig } from '../config';
import { UsageError } from '../usage-error';
import { vllmMinorOf } from './vllm-minor';

/**
 * First version with asynchronous scheduling by default: vLLM 0.14 (release notes of v0.14.0), also
 * with drafts of EAGLE, MTP and draft models (vllm-project/vllm#31998).
 */
const DEFAULT_SINCE_MINOR = 14;

/**
 * First version whose Model Runner V2 runs every model, which asynchronous scheduling with pipeline
 * stages needs (`use_v2_model_runner` and `max_concurrent_batches` of vllm/config/vllm.py: in the
 * source of 0.29.0; up to 0.28 only for models of a list).
 */
const STAGED_SINCE_MINOR = 29;

/**
 * True when engines form a batch while the previous one runs.
 *
 * @throws UsageError when it is set together with an option that its model excludes
 */
export function asyncScheduling(config: BatonConfig): boolean {
  const { asyncScheduling: requested, pipelineParallelSize } = config;
  const minor = vllmMinorOf(config);
  if (pipelineParallelSize === 1) return requested ?? minor >= DEFAULT_SINCE_MINOR;
  if (requested === true && minor < STAGED_SINCE_MINOR) {
    throw new UsageError(
      `async_scheduling with pipeline_parallel_size needs vllm_version 0.${STAGED_SINCE_MINOR} ` +
        'or later: the model runner before it does not support both.',
    );
  }
  return requested ?? minor >= STAGED_SINCE_MINOR;
}
