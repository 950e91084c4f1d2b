/** Formats in which weights of linear layers are stored and computed. */
export type WeightFormat =
  | 'bf16'
  /** FP8 whose activations are scaled per token while the engine runs. */
  | 'fp8'
  /** FP8 whose activations have a scale in the checkpoint. */
  | 'fp8_static'
  /** FP8 with a scale per block of 128 x 128, as DeepSeek publishes. */
  | 'fp8_block'
  | 'nvfp4'
  /** Four-bit experts that compute in BF16. */
  | 'mxfp4'
  | 'int4'
  /** INT4 with a scale per 32 weights and no zeros, as Moonshot publishes Kimi. */
  | 'int4_group32';

export type KvCacheFormat = 'bf16' | 'fp8';

/** The formats in which a model is served. Embedding, router and output head stay in BF16. */
export interface Precision {
  readonly linear: WeightFormat;
  readonly experts: WeightFormat;
  readonly kvCache: KvCacheFormat;
  /** Format of the projections before and after attention, where it differs from `linear`. */
  readonly attention?: WeightFormat;
  /** Format of the projection after attention, where it differs from `attention`. */
  readonly attentionOutput?: WeightFormat;
}

export const BF16: Precision = { linear: 'bf16', experts: 'bf16', kvCache: 'bf16' };

/** Bytes of one weight, including scales. */
export const WEIGHT_BYTES: Readonly<Record<WeightFormat, number>> = {
  bf16: 2,
  fp8: 1,
  fp8_static: 1,
  // A float per 128 x 128 weights.
  fp8_block: 1 + 4 / 128 ** 2,
  // A byte per 16 weights.
  nvfp4: 0.5 + 1 / 16,
  // A byte per 32 weights.
  mxfp4: 0.5 + 1 / 32,
  // Groups of 128 with a scale of two bytes and a zero of half a byte.
  int4: 0.5 + 2.5 / 128,
  int4_group32: 0.5 + 2 / 32,
};

export const KV_CACHE_BYTES: Readonly<Record<KvCacheFormat, number>> = { bf16: 2, fp8: 1 };

/** Text for logs and results, such as `FP8 (KV cache BF16)`. */
export function describePrecision(precision: Precision): string {
  const { linear, experts, kvCache, attention } = precision;
  const weights = linear === experts ? linear : `${linear}, experts ${experts}`;
  const own = attention === undefined ? '' : `, attention ${attention}`;
  return `${weights}${own}, KV cache ${kvCache}`.replaceAll('_', ' ');
}

/** Only the experts of MXFP4 checkpoints are in four bits. */
export function linearFormat({ linear }: Precision): WeightFormat {
  return linear === 'mxfp4' ? 'bf16' : linear;
}

/** The format of the projections into attention. */
export function attentionFormat(precision: Precision): WeightFormat {
  return precision.attention ?? linearFormat(precision);
}

/** The format of the projection behind attention. */
export function attentionOutputFormat(precision: Precision): WeightFormat {
  return precision.attentionOutput ?? attentionFormat(precision);
}

/** True when experts, or the linear layers of a model without experts, compute in FP8. */
export function isFp8({ experts }: Precision): boolean {
  return experts.startsWith('fp8');
}
