import type { KvFormat } from './attention-tables';
import { FORMAT_BYTES, type OperatorFormat, peakOf } from './number-format';
import { forEachNumberRow } from './number-rows';
import { OperatorGrid } from './operator-grid';
import { speedOfLightUs, type SystemFacts } from './system-facts';

/**
 * DeepSeek's widths, which the measured blocks have: KV rank 512 and rope 64, heads of 192 and 128.
 */
const LATENT_BYTES_ELEMENTS = 576;
const PAIR_ELEMENTS = 1088;
const PROJECTION_WEIGHTS = 65_536;
const PROMPT_PAIR_ELEMENTS = 320;

/** An ignored column, heads, the two axes, and the time. */
const COLUMNS = 5;

/** The block of multi-head latent attention, projections included, by (heads, middle, inner). */
export class LatentAttentionTable {
  private readonly grid: OperatorGrid;

  constructor(csv: string, kind: LatentKind) {
    this.grid = new OperatorGrid(kind);
    forEachNumberRow(csv, COLUMNS, (row) => {
      const [, heads, middle, inner, us] = row;
      this.grid.add([heads!, middle!, inner!], us!);
    });
  }

  timeUs(heads: number, middle: number, inner: number): number {
    return this.grid.timeUs(heads, middle, inner);
  }

  covers(heads: number, middle: number, inner: number): boolean {
    return this.grid.covers(heads, middle, inner);
  }
}

export type LatentKind = ConstructorParameters<typeof OperatorGrid>[0];

export interface LatentFormats {
  readonly weights: OperatorFormat;
  readonly kv: KvFormat;
}

/** Prefill: (heads, length, prompts). */
export function latentContextKind(system: SystemFacts, { kv }: LatentFormats): LatentKind {
  const kvBytes = kv === 'fp8' ? 1 : 2;
  return {
    isSquareInMiddle: true,
    speedOfLightUs: (heads, length, prompts) =>
      speedOfLightUs(system, {
        flops: PROMPT_PAIR_ELEMENTS * prompts * heads * length ** 2,
        peak: system.flops.bf16,
        bytes: PROMPT_PAIR_ELEMENTS * prompts * heads * length * (kvBytes + 2),
      }),
  };
}

/** Decode: (heads, sequences, length). */
export function latentGenerationKind(system: SystemFacts, formats: LatentFormats): LatentKind {
  const { weights, kv } = formats;
  const kvBytes = kv === 'fp8' ? 1 : 2;
  const weightBytes = FORMAT_BYTES[weights];
  const kvPeak = kv === 'fp8' && system.flops.fp8 > 0 ? system.flops.fp8 : system.flops.bf16;
  const { memoryBytesPerSecond } = system;
  return {
    isSquareInMiddle: false,
    speedOfLightUs: (heads, sequences, length) => {
      const attention = (2 * sequences * heads * PAIR_ELEMENTS * length) / kvPeak;
      const projection = (4 * sequences * heads * PROJECTION_WEIGHTS) / peakOf(system, weights);
      const latents = 2176 * heads + LATENT_BYTES_ELEMENTS * (length - 1) * kvBytes;
      const products = 2 * heads * (640 * sequences + PROJECTION_WEIGHTS) * weightBytes;
      const bytes = sequences * latents + products;
      return 1e6 * Math.max(attention + projection, bytes / memoryBytesPerSecond);
    },
  };
}
