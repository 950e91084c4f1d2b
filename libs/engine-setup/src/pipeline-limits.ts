import type { Stage } from '@baton/contract';
import { type BatonConfig, UsageError } from '@baton/config';

/**
 * What an engine with pipeline stages cannot do.
 *
 * @throws UsageError, one sentence with what to do
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
  if (config.numSpeculativeTokens > 0) {
    return 'does not go with num_speculative_tokens: drafts are not modelled across stages';
  }
  if (config.kvOffloadingSize > 0) {
    return 'does not go with kv_offloading_size: loading KV is not modelled in stages';
  }
  if (config.logSteps !== undefined) {
    return 'does not go with log_steps: steps overlap, and what one takes fits no step-time model';
  }
  return undefined;
}
