import type { SystemFacts } from './system-facts';

/** Formats of numbers in an operator's computation, by the names in its table. */
export type OperatorFormat =
  'bf16' | 'fp8' | 'fp8_block' | 'nvfp4' | 'mxfp4' | 'mxfp4_mxfp8' | 'int4_wo';

/** Bytes of one weight. */
export const FORMAT_BYTES: Readonly<Record<OperatorFormat, number>> = {
  bf16: 2,
  fp8: 1,
  fp8_block: 1,
  nvfp4: 9 / 16,
  mxfp4: 0.5,
  mxfp4_mxfp8: 0.5,
  int4_wo: 0.5,
};

/** FLOP/s of the units that compute the format: weight-only formats compute in BF16. */
export function peakOf({ flops }: SystemFacts, format: OperatorFormat): number {
  if (format === 'fp8' || format === 'fp8_block' || format === 'mxfp4_mxfp8') return flops.fp8;
  return format === 'nvfp4' ? flops.fp4 : flops.bf16;
}
