import type { BatonConfig } from '../config';
import { cudaGraphSizes, type EnginePlacement } from '@baton/hardware';
import { asyncScheduling } from './async-scheduling';
import { schedulerLimits } from './scheduler-limits';
import { vllmMinorOf } from './vllm-minor';

/** Inputs of the composed steps of a configuration besides the placement of the engine. */
export function composedChoices(config: BatonConfig, placement: EnginePlacement) {
  const { framework } = config;
  const vllmMinor = vllmMinorOf(config);
  const limits = schedulerLimits(config, placement.gpu);
  const capacity = { ...config, ...placement, ...limits, vllmMinor };
  return {
    framework,
    vllmMinor,
    // Baton has no data about the sizes of other frameworks.
    cudaGraphSizes: framework === 'vllm' ? cudaGraphSizes(capacity) : [],
    // Pipeline stages have several batches under way, which hides the time of the host.
    isSynchronous: !asyncScheduling(config) && config.pipelineParallelSize === 1,
  };
}
