export {
  GPUS_PER_NODE,
  checkParallel,
  engineGpus,
  expertGroupOf,
  type EnginePlacement,
} from './engine-placement';
export { goesBy } from './find-by-name';
export type { Gpu, GpuEfficiency, GpuInterconnect } from './gpu/gpu';
export { GPUS, findGpu } from './gpu/gpu-catalogue';
export { GPU_POWER, type GpuPower } from './gpu/gpu-power';
export { GPU_PRICES, type GpuPrice } from './gpu/gpu-prices';
export { gpuFromFields } from './gpu/gpu-from-fields';
export { schedulerDefaults, type SchedulerDefaults } from './gpu/scheduler-defaults';
export { HardwareError, type HardwareErrorCode } from './hardware-error';
export { cudaGraphSizes } from './memory/cuda-graph-sizes';
export { kvCapacityBlocks, NULL_BLOCKS, type KvCapacityQuery } from './memory/kv-capacity';
export {
  kvBytesPerBlock,
  kvBytesPerToken,
  kvGroupsOf,
  layersPerBlock,
  type KvLayerGroups,
} from './memory/kv-groups';
export { expertHidden } from './memory/padded-experts';
export { LINKS, findLink, linkFromTiming, type Link, type LinkTiming } from './link/link';
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
  type GroupedAttention,
  type LatentAttention,
  type MixtureOfExperts,
  type ModelGeometry,
  type SlidingWindow,
} from './model/model-geometry';
export { pipelinePartition, stagesOf } from './pipeline-stages';
export {
  attentionFormat,
  attentionOutputFormat,
  BF16,
  describePrecision,
  isFp8,
  linearFormat,
  type KvCacheFormat,
  type Precision,
  type WeightFormat,
} from './model/precision';
export {
  KV_CACHE_DTYPES,
  QUANTIZATIONS,
  servedIn,
  type KvCacheDtype,
  type PrecisionRequest,
  type Quantization,
} from './model/quantise';
