export {
  GPUS_PER_NODE,
  checkParallel,
  engineGpus,
  expertGroupOf,
  type EnginePlacement,
} from './engine-placement';
export { goesBy } from './find-by-name';
export type { Gpu } from './gpu/gpu';
export { GPUS, findGpu } from './gpu/gpu-catalogue';
export { neighbouringGpus } from './gpu/gpu-generations';
export { GPU_POWER } from './gpu/gpu-power';
export { GPU_PRICES } from './gpu/gpu-prices';
export { gpuFromFields } from './gpu/gpu-from-fields';
export { schedulerDefaults, type SchedulerDefaults } from './gpu/scheduler-defaults';
export { HardwareError, type HardwareErrorCode } from './hardware-error';
export { cudaGraphSizes } from './memory/cuda-graph-sizes';
export { kvCapacityBlocks, NULL_BLOCKS } from './memory/kv-capacity';
export { kvBytesPerBlock, kvBytesPerToken, kvGroupsOf, layersPerBlock } from './memory/kv-groups';
export { expertHidden } from './memory/padded-experts';
export { LINKS, findLink, linkFromTiming, type Link, type LinkTiming } from './link/link';
export { geometryFromConfig } from './model/geometry-from-config';
export { MODELS, findModel } from './model/model-catalogue';
export {
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
} from './model/model-geometry';
export { pipelinePartition, stagesOf } from './pipeline-stages';
export {
  attentionFormat,
  attentionOutputFormat,
  BF16,
  describePrecision,
  isFp8,
  linearFormat,
  type Precision,
  type WeightFormat,
} from './model/precision';
export {
  KV_CACHE_DTYPES,
  QUANTIZATIONS,
  servedIn,
  type PrecisionRequest,
  type Quantization,
} from './model/quantise';
