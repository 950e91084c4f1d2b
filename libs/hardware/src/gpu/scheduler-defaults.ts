import type { Gpu } from './gpu';

const GIB = 2 ** 30;

export interface SchedulerDefaults {
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
}

/**
 * What vLLM's API server takes when neither is given (`EngineArgs.get_batch_defaults`): by GPU
 * memory, and as for small GPUs on A100.
 */
export function schedulerDefaults({ name, memoryBytes }: Gpu): SchedulerDefaults {
  const isA100 = name.startsWith('a100');
  if (memoryBytes < 70 * GIB || isA100) return { maxNumSeqs: 256, maxNumBatchedTokens: 2_048 };
  const maxNumBatchedTokens = memoryBytes >= 160 * GIB ? 16_384 : 8_192;
  return { maxNumSeqs: 1_024, maxNumBatchedTokens };
}
