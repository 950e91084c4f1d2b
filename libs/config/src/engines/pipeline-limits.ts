import type { Stage } from '@baton/contract';
import { type BatonConfig } from '../config';
import { UsageError } from '../usage-error';

/**
 * Refuses options that an engine with pipeline stages does not support.
 *
 * @throws UsageError, one sentence with a remedy
 */
export function refuseStages(config: BatonConfig, stage: Stage): void {
  const { pipelineParallelSize } = config;
  if (pipelineParallelSize === 1) return;
  const why = limitOf(config, stage);
  if (why === undefined) return;
  throw new UsageError(`pipeline_parallel_size ${pipelineParallelSize} ${why}.`);
}

function limitOf(config: BatonConfig, stage: Stage): string | undefined {
  if (stage !== 'aggregated') {
    return (
      `is not possible for ${stage} engines: the NIXL connector of vLLM, whose hand-over is ` +
      'simulated, refuses pipeline stages; use aggregated engines (4A)'
    );
  }
  if (config.logSteps !== undefined) {
    return 'excludes log_steps: steps overlap, so the time of one fits no step-time model';
  }
  return undefined;
}
