import { formatTopology } from '@baton/placement';
import { type Candidate, isAggregated } from '@baton/planner';
import type { BatonConfig } from '@baton/runtime';

/** The configuration with which `baton up` starts a split. */
export function configOf(config: BatonConfig, split: Candidate): BatonConfig {
  const { prefillTp, decodeTp } = split;
  const sizes = isAggregated(split)
    ? {
        tensorParallelSize: decodeTp,
        prefillTensorParallelSize: undefined,
        decodeTensorParallelSize: undefined,
      }
    : {
        tensorParallelSize: decodeTp,
        prefillTensorParallelSize: prefillTp,
        decodeTensorParallelSize: decodeTp,
      };
  return { ...config, ...sizes, topology: formatTopology(split.topology) };
}
