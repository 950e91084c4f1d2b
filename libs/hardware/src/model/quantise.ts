import type { Gpu } from '../gpu/gpu';
import { HardwareError } from '../hardware-error';
import type { ModelGeometry } from './model-geometry';
import {
  attentionFormat,
  type KvCacheFormat,
  type Precision,
  type WeightFormat,
} from './precision';

/** vLLM's names of weight formats, with the formats in which engines compute. */
const FORMATS = {
  none: 'bf16',
  fp8: 'fp8',
  fbgemm_fp8: 'fp8',
  modelopt: 'fp8_static',
  fp8_block: 'fp8_block',
  modelopt_fp4: 'nvfp4',
  nvfp4: 'nvfp4',
  mxfp4: 'mxfp4',
  awq: 'int4',
  awq_marlin: 'int4',
  gptq: 'int4',
  gptq_marlin: 'int4',
} as const satisfies Readonly<Record<string, WeightFormat>>;

/** vLLM's name for a format that only the checkpoint states. */
const OWN = 'compressed-tensors';

export type Quantization = keyof typeof FORMATS | typeof OWN;
export const QUANTIZATIONS: [Quantization, ...Quantization[]] = [
  ...(Object.keys(FORMATS) as [Quantization, ...Quantization[]]),
  OWN,
];

/** vLLM's names for the KV cache; `auto` is what the checkpoint specifies. */
const KV_FORMATS = {
  ...({ bfloat16: 'bf16', fp8: 'fp8', fp8_e4m3: 'fp8', fp8_e5m2: 'fp8' } as const),
} satisfies Readonly<Record<string, KvCacheFormat>>;

export type KvCacheDtype = 'auto' | keyof typeof KV_FORMATS;
export const KV_CACHE_DTYPES = ['auto', ...Object.keys(KV_FORMATS)] as [
  KvCacheDtype,
  ...KvCacheDtype[],
];

export interface PrecisionRequest {
  /** Unset: the format of the published checkpoint. */
  readonly quantization?: Quantization | undefined;
  readonly kvCacheDtype?: KvCacheDtype | undefined;
  /** True: layers with a sliding window keep all KV, like the others. Default: false. */
  readonly disableHybridKvCacheManager?: boolean | undefined;
}

/**
 * The model as it is served on that GPU.
 *
 * @throws HardwareError `not-possible` for a format that the GPU cannot compute in, or that the
 * checkpoint does not have
 */
export function servedIn(model: ModelGeometry, gpu: Gpu, request: PrecisionRequest): ModelGeometry {
  const { quantization, kvCacheDtype = 'auto' } = request;
  const weights = weightsOf(model, quantization);
  const kvCache = kvCacheDtype === 'auto' ? weights.kvCache : KV_FORMATS[kvCacheDtype];
  const precision = { ...weights, kvCache };
  const { linear, experts } = precision;
  for (const format of [linear, experts, attentionFormat(precision)]) checkFormat(format, gpu);
  const { attention } = model;
  const keepsAll = request.disableHybridKvCacheManager === true;
  if (!keepsAll || attention.kind === 'latent' || attention.slidingWindow === undefined)
    return { ...model, precision };
  const slidingWindow = { ...attention.slidingWindow, keepsAll };
  return { ...model, precision, attention: { ...attention, slidingWindow } };
}

function weightsOf(model: ModelGeometry, quantization: Quantization | undefined): Precision {
  const { precision, name } = model;
  if (quantization === undefined) return precision;
  if (quantization !== OWN) return precisionOf(FORMATS[quantization], model);
  if (precision.linear !== 'bf16' || precision.experts !== 'bf16') return precision;
  throw new HardwareError(
    'not-possible',
    `quantization ${OWN} is the format of the checkpoint, and ${name} has none. Name the format, ` +
      "or set model to the checkpoint's config.json.",
  );
}

/** Only the experts of a mixture in MXFP4 are in four bits. */
function precisionOf(format: WeightFormat, { precision, nvfp4Layers }: ModelGeometry): Precision {
  const own = format === 'nvfp4' ? nvfp4Layers : {};
  return { linear: format, experts: format, kvCache: precision.kvCache, ...own };
}

type Named = Exclude<WeightFormat, 'int4_group32'>;

const NAMES: Readonly<Record<Named, string>> = {
  bf16: 'none',
  fp8: 'fp8',
  fp8_static: 'modelopt (static FP8)',
  fp8_block: 'fp8_block',
  nvfp4: 'nvfp4',
  mxfp4: 'mxfp4',
  int4: 'awq, gptq (INT4 weights)',
};

/** Weight-only formats compute in BF16, which every GPU of the catalogue supports. */
export function formatsOf(gpu: Gpu): Named[] {
  const fp8 = gpu.fp8Factor === undefined ? [] : (['fp8', 'fp8_static', 'fp8_block'] as const);
  const fp4 = gpu.fp4Factor === undefined ? [] : (['nvfp4'] as const);
  return ['bf16', ...fp8, ...fp4, 'mxfp4', 'int4'];
}

function checkFormat(format: WeightFormat, gpu: Gpu): void {
  const possible = formatsOf(gpu);
  if (format === 'int4_group32' || possible.includes(format)) return;
  const names = possible.map((one) => NAMES[one]).join(', ');
  throw new HardwareError(
    'not-possible',
    `${gpu.name} has no units for ${format.replaceAll('_', ' ').toUpperCase()}. ` +
      `Possible quantization: ${names}.`,
  );
}
