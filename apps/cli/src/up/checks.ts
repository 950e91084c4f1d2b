import { findGpu, findLink, findModel, HardwareError, kvCapacityBlocks } from '@baton/hardware';
import { parseTopology } from '@baton/placement';
import { type BatonConfig, configForStage, UsageError } from '@baton/runtime';
import type { EngineCounts } from './cluster-plan';

/**
 * Checks what names and numbers alone can tell: that model, GPUs and link are known and that the model fits.
 *
 * @throws UsageError, one sentence
 */
export function checkHardware(config: BatonConfig): void {
  try {
    findLink(config.link);
    for (const stage of ['prefill', 'decode', 'aggregated'] as const) {
      const own = configForStage(config, stage);
      kvCapacityBlocks({
        model: findModel(own.model),
        gpu: findGpu(own.gpu),
        tp: own.tensorParallelSize,
        gpuMemoryUtilization: own.gpuMemoryUtilization,
        blockSize: own.blockSize,
      });
    }
  } catch (error) {
    if (error instanceof HardwareError) throw new UsageError(error.message);
    throw error;
  }
}
