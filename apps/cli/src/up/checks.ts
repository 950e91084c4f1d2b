import { parseTopology, TopologyError } from '@baton/placement';
import { type BatonConfig, checkExtrapolation, engineSetup, UsageError } from '@baton/runtime';
import { type EngineCounts, STAGES_OF_WORKERS } from './cluster-plan';

/**
 * The engines of the configured topology.
 *
 * @throws UsageError, one sentence with an example
 */
export function enginesOf(config: BatonConfig): EngineCounts {
  try {
    return parseTopology(config.topology);
  } catch (error) {
    if (error instanceof TopologyError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * Checks what names and numbers alone can tell: that model, GPUs and link are known, that the model fits, that step times can be had.
 *
 * @throws UsageError, one sentence
 */
export function checkEngines(config: BatonConfig, engines: EngineCounts): void {
  for (const stage of STAGES_OF_WORKERS) {
    if (engines[stage] === 0) continue;
    checkExtrapolation(engineSetup(config, stage), stage, { everyBatch: true });
  }
}
