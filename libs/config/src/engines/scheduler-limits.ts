import { type Gpu, type SchedulerDefaults, schedulerDefaults } from '@baton/hardware';
import type { BatonConfig } from '../config';

/** The configured limits, else vLLM's for the GPU. A default adapts to a configured one. */
export function schedulerLimits(config: BatonConfig, gpu: Gpu): SchedulerDefaults {
  const defaults = schedulerDefaults(gpu);
  const { maxNumSeqs: seqs, maxNumBatchedTokens: tokens, numSpeculativeTokens } = config;
  return {
    maxNumSeqs: seqs ?? Math.min(defaults.maxNumSeqs, tokens ?? Infinity),
    maxNumBatchedTokens:
      tokens ?? Math.max(defaults.maxNumBatchedTokens, seqs ?? 0, numSpeculativeTokens + 1),
  };
}
