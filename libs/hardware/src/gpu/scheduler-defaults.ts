import type { Gpu } from './gpu';

const GIB = 2 ** 30;
const TPU_TOKENS: Readonly<Record<string, number>> = { 'tpu-v5e': 512, 'tpu-v6e': 1_024 };

export interface SchedulerDefaults {
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
}

/**
 * The defaults of vLLM's API server (`EngineArgs.get_batch_defaults`): by GPU memory, on A100 those
 * of small GPUs; TPUs have their own.
 */
export function schedulerDefaults({ name, memoryBytes }: Gpu): SchedulerDefaults {
  const tpuTokens = TPU_TOKENS[name];
  if (tpuTokens !== undefined) return { maxNumSeqs: 256, maxNumBatchedTokens: tpuTokens };
  const isA100 = name.startsWith('a100');
  if (memoryBytes < 70 * GIB || isA100) return { maxNumSeqs: 256, maxNumBatchedTokens: 2_048 };
  const maxNumBatchedTokens = memoryBytes >= 160 * GIB ? 16_384 : 8_192;
  return { maxNumSeqs: 1_024, maxNumBatchedTokens };
}
