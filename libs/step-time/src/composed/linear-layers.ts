import type { WeightFormat } from '@baton/hardware';
import type { OperatorTables } from '../operators/operator-tables';

/** A linear layer of k inputs and n outputs. */
export interface LinearShape {
  readonly n: number;
  readonly k: number;
  /** The kernel before it could hand over FP8 already, as attention and the activation do. */
  readonly mayArriveQuantised?: boolean;
}

/** Times of one linear layer in one format, µs. */
export interface LinearLayers {
  timeUs(m: number, shape: LinearShape): number | undefined;
  /** Largest m up to which no time is extrapolated. */
  lastMeasured(shape: LinearShape): number;
}

/**
 * The linear layers of a format on a GPU, or undefined when no table has them.
 *
 * Block-wise FP8 was timed eagerly with vLLM's kernels, where launching takes longer than computing
 * below about 1,000 rows, and in a graph with SGLang's: the smaller of the two leaves the launch
 * out, which an engine with CUDA graphs does not pay.
 */
export function linearLayersOf(
  tables: OperatorTables,
  format: WeightFormat,
): LinearLayers | undefined {
  if (format === 'fp8_block') return blockwise(tables);
  if (format === 'fp8_static') return statically(tables);
  const table = isTabled(format) ? tables.gemm(format) : undefined;
  return (
    table && {
      timeUs: (m, { n, k }) => table.timeUs(m, n, k),
      lastMeasured: ({ n, k }) => table.lastMeasured(n, k),
    }
  );
}

function isTabled(format: WeightFormat): format is 'bf16' | 'fp8' | 'nvfp4' {
  return format === 'bf16' || format === 'fp8' || format === 'nvfp4';
}

function blockwise(tables: OperatorTables): LinearLayers | undefined {
  const eager = tables.gemm('fp8_block');
  const captured = tables.gemm('fp8_block', 'sglang');
  if (captured === undefined) return undefined;
  return {
    timeUs: (m, { n, k }) => smaller(captured.timeUs(m, n, k), eager?.timeUs(m, n, k)),
    lastMeasured: ({ n, k }) => captured.lastMeasured(n, k),
  };
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}

/** Dynamic FP8 without finding the scale, and without quantising where the input comes in FP8. */
function statically(tables: OperatorTables): LinearLayers | undefined {
  const dynamic = tables.gemm('fp8');
  const scale = tables.quantise('compute_scale');
  const matrix = tables.quantise('scale_matrix');
  if (dynamic === undefined || scale === undefined || matrix === undefined) return undefined;
  return {
    timeUs: (m, { n, k, mayArriveQuantised }) => {
      const us = dynamic.timeUs(m, n, k);
      if (us === undefined) return undefined;
      const saved = scale.timeUs(m, k) + (mayArriveQuantised === true ? matrix.timeUs(m, k) : 0);
      return Math.max(us - saved, dynamic.speedOfLightUs(m, n, k));
    },
    lastMeasured: ({ n, k }) => dynamic.lastMeasured(n, k),
  };
}
