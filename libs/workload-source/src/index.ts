export { RETIMING } from './arrival-flags';
export { configuredWorkload } from './configured-workload';
export type { ConfiguredWorkload, ReadingOptions } from './configured-workload';
export { FlagValues } from './flag-values';
export type { NumberBounds } from './flag-values';
export { readLines } from './files/file-lines';
export { SHIPPED_TRACES, shippedTracesText } from './files/shipped-traces';
export { checkSource, loadWorkload, shownWorkload, wantsTraceList } from './load-workload';
export type { LoadedWorkload, WorkloadContext } from './load-workload';
export {
  flagNameOf,
  splitWorkloadFlags,
  WORKLOAD_FLAG_ALIASES,
  WORKLOAD_FLAG_ROWS,
  WORKLOAD_FLAGS,
} from './workload-flags';
export type { WorkloadFlag, WorkloadFlags } from './workload-flags';
