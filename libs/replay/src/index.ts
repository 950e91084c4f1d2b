export {
  prepareReplay,
  resolvedOptions,
  type PreparedReplay,
  type ReplayRequest,
} from './prepare-replay';
export { scaledReplay } from './scaled-replay';
export { cachesText } from './saved-caches';
export { RETIMING } from './load/arrival-flags';
export {
  configuredWorkload,
  type ConfiguredWorkload,
  type ReadingOptions,
} from './load/configured-workload';
export { FlagValues, type NumberBounds } from './load/flag-values';
export { readLines } from './load/files/file-lines';
export { SHIPPED_TRACES, shippedTracesText } from './load/files/shipped-traces';
export {
  checkSource,
  loadWorkload,
  shownWorkload,
  wantsTraceList,
  type LoadedWorkload,
  type WorkloadContext,
} from './load/load-workload';
export {
  flagNameOf,
  splitWorkloadFlags,
  WORKLOAD_FLAG_ALIASES,
  WORKLOAD_FLAG_ROWS,
  WORKLOAD_FLAGS,
  type WorkloadFlag,
  type WorkloadFlags,
} from './load/workload-flags';
