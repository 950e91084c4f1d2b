import type { BatonConfig } from '@baton/config';
import { formatTopology } from '@baton/policies';
import { type Candidate, isAggregated } from '../candidates/candidates';

/** The configuration with which `baton up` starts a split. */
export function configOf(given: BatonConfig, split: Candidate): BatonConfig {
  const { maxNumBatchedTokens = given.maxNumBatchedTokens } = split;
  const config = { ...given, maxNumBatchedTokens };
  const topology = formatTopology(split.topology);
  const { prefillTp, decodeTp } = split;
  if (!isAggregated(split)) {
    const sizes = { prefillTensorParallelSize: prefillTp, decodeTensorParallelSize: decodeTp };
    return { ...config, ...sizes, topology };
  }
  const none = { prefillTensorParallelSize: undefined, decodeTensorParallelSize: undefined };
  return { ...config, ...none, tensorParallelSize: decodeTp, topology };
}
