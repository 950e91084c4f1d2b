import type { BatonConfig } from '../config';
import { type EnginePlacement, findLink, servedIn } from '@baton/hardware';
import { gpuOf } from './gpu-of';
import { modelOf } from './model-of';

/**
 * The model, as it is served, on the GPUs of one engine of a configuration.
 *
 * @throws UsageError for an unreadable file; HardwareError for an unknown name or an impossible
 * format
 */
export function placementOf(config: BatonConfig): EnginePlacement {
  const gpu = gpuOf(config.gpu);
  return {
    model: servedIn(modelOf(config.model, config.acceptUnknownConfig), gpu, config),
    gpu,
    tp: config.tensorParallelSize,
    pp: config.pipelineParallelSize,
    dp: config.dataParallelSize,
    expertParallel: config.enableExpertParallel,
    fabric: findLink(config.link),
  };
}
