import type { BatonConfig } from '@baton/config';
import { formatTopology } from '@baton/policies';
import { type Candidate, isAggregated, type Settings } from '../candidates/candidates';

/** The options of the configuration that make a split. */
export function clusterOf(split: Candidate): Settings {
  const { prefillTp, decodeTp, stages = 1, settings } = split;
  const topology = formatTopology(split.topology);
  const shared = { topology, pipelineParallelSize: stages, ...settings };
  if (!isAggregated(split)) {
    const sizes = { prefillTensorParallelSize: prefillTp, decodeTensorParallelSize: decodeTp };
    return { ...shared, ...sizes };
  }
  const none = { prefillTensorParallelSize: undefined, decodeTensorParallelSize: undefined };
  return { ...shared, ...none, tensorParallelSize: decodeTp };
}

/** The configuration with which `baton up` starts a split. */
export function configOf(given: BatonConfig, split: Candidate): BatonConfig {
  return { ...given, ...clusterOf(split) };
}
