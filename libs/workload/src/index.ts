export { constantArrivals, poissonArrivals } from './arrivals';
export type { Arrivals } from './arrivals';
export { AzureTraceReader, readAzureTrace } from './azure-trace';
export type { MalformedLine, TraceLine, TraceRequest } from './azure-trace';
export { buildLengthModel } from './length-model';
export type { Bounds, LengthModel, LengthSpec } from './length-model';
export { pick, WorkloadBuilder } from './workload';
export type { Workload, WorkloadBuilderOptions } from './workload';
