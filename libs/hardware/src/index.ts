export { GPUS_PER_NODE, checkParallel, engineGpus, expertGroupOf } from './engine-placement';
export type { EnginePlacement } from './engine-placement';
export { goesBy } from './find-by-name';
export type { Gpu, GpuEfficiency, GpuInterconnect } from './gpu/gpu';
export { GPUS, findGpu } from './gpu/gpu-catalogue';
export { GPU_POWER } from './gpu/gpu-power';
export type { GpuPower } from './gpu/gpu-power';
export { GPU_PRICES } from './gpu/gpu-prices';
export type { GpuPrice } from './gpu/gpu-prices';
export { gpuFromFields } from './gpu/gpu-from-fields';
export { schedulerDefaults } from './gpu/scheduler-defaults';
export type { SchedulerDefaults } from './gpu/scheduler-defaults';
export { HardwareError } from './hardware-error';
export type { HardwareErrorCode } from './hardware-error';
export { cudaGraphSizes } from './memory/cuda-graph-sizes';
export { kvCapacityBlocks, NULL_BLOCKS } from './memory/kv-capacity';
export type { KvCapacityQuery } from './memory/kv-capacity';
export { kvBytesPerBlock, kvBytesPerToken, kvGroupsOf, layersPerBlock } from './memory/kv-groups';
export type { KvLayerGroups } from './memory/kv-groups';
export { expertHidden } from './memory/padded-experts';
export { LINKS, findLink, linkFromTiming } from './link/link';
export type { Link, LinkTiming } from './link/link';
export { geometryFromConfig } from './model/geometry-from-config';
export { MODELS, findModel } from './model/model-catalogue';
export {
  activeParameterCount,
  expertLayers,
  expertParameters,
  hasEmbedding,
  hasOutputHead,
  kvElementBytes,
  meanWeightBytes,
  parameterCount,
  routedParameters,
  sharedLayerParameters,
  vocabularyParameters,
} from './model/model-geometry';
export type {
  GroupedAttention,
  LatentAttention,
  MixtureOfExperts,
  ModelGeometry,
  SlidingWindow,
} from './model/model-geometry';
export { pipelinePartition, stagesOf } from './pipeline-stages';
export {
  attentionFormat,
  attentionOutputFormat,
  BF16,
  describePrecision,
  isFp8,
  linearFormat,
} from './model/precision';
export type { KvCacheFormat, Precision, WeightFormat } from './model/precision';
export { KV_CACHE_DTYPES, QUANTIZATIONS, servedIn } from './model/quantise';
export type { KvCacheDtype, PrecisionRequest, Quantization } from './model/quantise';
