export {
  prepareReplay,
  resolvedOptions,
  type PreparedReplay,
  type ReplayRequest,
} from './prepare-replay';
export { scaledReplay } from './scaled-replay';
export { cachesText } from './saved-caches';
export { configuredWorkload, type ReadingOptions } from './load/configured-workload';
export { FlagValues } from './load/flag-values';
export { SHIPPED_TRACES, shippedTracesText } from './load/files/shipped-traces';
export {
  checkSource,
  loadWorkload,
  shownWorkload,
  wantsTraceList,
  type LoadedWorkload,
} from './load/load-workload';
export {
  DATASET_NAMES,
  flagNameOf,
  splitWorkloadFlags,
  WORKLOAD_FLAG_ALIASES,
  WORKLOAD_FLAG_ROWS,
  WORKLOAD_FLAGS,
  type WorkloadFlag,
  type WorkloadFlags,
} from './load/workload-flags';
