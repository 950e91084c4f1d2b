import { type Gpu, type SchedulerDefaults, schedulerDefaults } from '@baton/hardware';
import type { BatonConfig } from '@baton/config';

/** Those given, else vLLM's for the GPU; one that is not given makes room for one that is. */
export function schedulerLimits(config: BatonConfig, gpu: Gpu): SchedulerDefaults {
  const defaults = schedulerDefaults(gpu);
  const { maxNumSeqs: seqs, maxNumBatchedTokens: tokens, numSpeculativeTokens } = config;
  return {
    maxNumSeqs: seqs ?? Math.min(defaults.maxNumSeqs, tokens ?? Infinity),
    maxNumBatchedTokens:
      tokens ?? Math.max(defaults.maxNumBatchedTokens, seqs ?? 0, numSpeculativeTokens + 1),
  };
}
