import type { BatonConfig } from '../config';
import type { Stage } from '@baton/contract';

/**
 * True for engines that compute prompts in steps of their own: SGLang without
 * `--enable-mixed-chunk`. Engines with drafts, pipeline stages or KV from other engines mix them,
 * as vLLM does.
 */
export function promptsFirst(config: BatonConfig, stage: Stage): boolean {
  if (config.framework !== 'sglang' || config.enableMixedChunk || stage !== 'aggregated') {
    return false;
  }
  const isPlain = config.numSpeculativeTokens === 0 && config.pipelineParallelSize === 1;
  return isPlain && config.kvOffloadingSize === 0;
}
