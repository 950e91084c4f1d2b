import { assert } from '@baton/kernel';
import { OperatorGrid } from './operator-grid';
import { forEachNumberRowIn, forEachRun, type TextRange } from './number-rows';
import { speedOfLightUs, type SystemFacts } from './system-facts';

/** One layer's attention on one GPU. */
export interface AttentionShape {
  readonly headDim: number;
  /** Maximum number of tokens that a query attends to. 0: all. */
  readonly window: number;
  readonly heads: number;
  readonly kvHeads: number;
}

export type KvFormat = 'bf16' | 'fp8';
const KV_BYTES: Readonly<Record<KvFormat, number>> = { bf16: 2, fp8: 1 };
/** Ada and later read an FP8 cache into FP8 units. */
const FP8_SM_VERSION = 89;

/** Head width, window, KV heads, heads, the two axes, and the time. */
const COLUMNS = 7;
/** Number of leading columns that describe a shape. */
const SHAPE_COLUMNS = 4;

/** The measurements of one key: the place of its rows, and on first use their grid. */
interface KnownShape {
  readonly shape: AttentionShape;
  readonly runs: { readonly shape: AttentionShape; readonly range: TextRange }[];
  grid?: OperatorGrid;
}

/** The rows that represent a shape. */
interface Found {
  readonly known: AttentionShape;
  /** True: this exact shape was measured. */
  readonly isExact: boolean;
  readonly grid: OperatorGrid;
}

type SpeedOfLight = (shape: AttentionShape, middle: number, inner: number) => number;

/** The differences between the two tables of attention. */
interface Kind {
  readonly isSquareInMiddle: boolean;
  readonly speedOfLightUs: SpeedOfLight;
  readonly isRaised: boolean;
}

/**
 * Attention of one layer by (heads, middle, inner): (heads, length, prompts) of prefill or (heads,
 * sequences, length) of decode. A head width, window or number of KV heads without measurements
 * uses the nearest one, scaled by the speed of light. It keeps the text and reads the rows of a
 * shape on first use: a model needs one or two of dozens.
 */
export class AttentionTable {
  private readonly shapes = new Map<string, KnownShape>();
  /** By shape object: a deployment has one or two. */
  private readonly found = new WeakMap<AttentionShape, Found>();

  constructor(
    private readonly csv: string,
    private readonly kind: Kind,
  ) {
    forEachRun(csv, SHAPE_COLUMNS, (key, range) => {
      const [headDim, window, kvHeads, heads] = key.map(Number);
      const shape = { headDim: headDim!, window: window!, kvHeads: kvHeads!, heads: heads! };
      const known = this.shapes.get(keyOf(shape)) ?? { shape, runs: [] };
      this.shapes.set(keyOf(shape), known);
      known.runs.push({ shape, range });
    });
  }

  /** Time in µs of one layer. */
  timeUs(shape: AttentionShape, middle: number, inner: number): number {
    const { known, isExact, grid } = this.nearest(shape);
    const us = grid.timeUs(shape.heads, middle, inner);
    if (isExact) return us;
    const wanted = this.kind.speedOfLightUs(shape, middle, inner);
    return (
      (us * wanted) / this.kind.speedOfLightUs({ ...known, heads: shape.heads }, middle, inner)
    );
  }

  /** True when the point is within the measurements of this exact shape. */
  covers(shape: AttentionShape, middle: number, inner: number): boolean {
    const { isExact, grid } = this.nearest(shape);
    return isExact && grid.covers(shape.heads, middle, inner);
  }

  /** True when the point is within the measurements of the shape that represents this one. */
  reaches(shape: AttentionShape, middle: number, inner: number): boolean {
    return this.nearest(shape).grid.covers(shape.heads, middle, inner);
  }

  private gridOf(known: KnownShape): OperatorGrid {
    return (known.grid ??= this.readGrid(known));
  }

  private readGrid({ shape, runs }: KnownShape): OperatorGrid {
    const { kind } = this;
    const isShared = shape.kvHeads !== shape.heads;
    const grid = new OperatorGrid({
      isSquareInMiddle: kind.isSquareInMiddle,
      speedOfLightUs: (heads, middle, inner) =>
        kind.speedOfLightUs(
          { ...shape, heads, kvHeads: isShared ? shape.kvHeads : heads },
          middle,
          inner,
        ),
    });
    for (const run of runs) {
      const add = (row: Readonly<Float64Array>): void => {
        const [, , , heads, middle, inner, us] = row;
        const least = kind.isRaised ? kind.speedOfLightUs(run.shape, middle!, inner!) : 0;
        grid.add([heads!, middle!, inner!], Math.max(us!, least));
      };
      forEachNumberRowIn(this.csv, { columns: COLUMNS, range: run.range }, add);
    }
    return grid;
  }

  private nearest(shape: AttentionShape): Found {
    const found = this.found.get(shape) ?? this.find(shape);
    this.found.set(shape, found);
    return found;
  }

  private find(shape: AttentionShape): Found {
    const exact = this.shapes.get(keyOf(shape));
    if (exact !== undefined) return { known: shape, isExact: true, grid: this.gridOf(exact) };
    const ranked = [...this.shapes.values()].sort(
      (a, b) => distance(a.shape, shape) - distance(b.shape, shape),
    );
    const [nearest] = ranked;
    assert(nearest !== undefined, 'a table of attention has rows');
    return { known: nearest.shape, isExact: false, grid: this.gridOf(nearest) };
  }
}

/** Prefill: `length` tokens of each of `prompts` prompts, none cached. */
export function contextAttentionKind(system: SystemFacts, kv: KvFormat): Kind {
  return {
    isSquareInMiddle: true,
    isRaised: false,
    speedOfLightUs: ({ heads, kvHeads, headDim, window }, length, prompts) => {
      const isBounded = window > 0 && window < length;
      const pairs = isBounded ? 2 * length * window : length * length;
      const kvBytes = KV_BYTES[kv] * 2 * kvHeads;
      return speedOfLightUs(system, {
        flops: 2 * prompts * pairs * heads * headDim,
        peak: system.flops.bf16,
        bytes: prompts * length * headDim * (4 * heads + kvBytes),
      });
    },
  };
}

/** Decode: `length` tokens of context of each of `sequences`, the new one included. */
export function generationAttentionKind(system: SystemFacts, kv: KvFormat): Kind {
  const hasFp8 = kv === 'fp8' && system.smVersion >= FP8_SM_VERSION;
  return {
    isSquareInMiddle: false,
    isRaised: true,
    speedOfLightUs: ({ heads, kvHeads, headDim, window }, sequences, length) => {
      const seen = window > 0 ? Math.min(window, length - 1) : length - 1;
      const kvBytes = 2 * kvHeads * seen * headDim * KV_BYTES[kv];
      return speedOfLightUs(system, {
        flops: 4 * sequences * heads * headDim * seen,
        peak: hasFp8 ? system.flops.fp8 : system.flops.bf16,
        bytes: sequences * (4 * heads * headDim + kvBytes),
      });
    },
  };
}

/** One KV head per query head is one table over all numbers of heads. */
function keyOf({ headDim, window, heads, kvHeads }: AttentionShape): string {
  return `${headDim},${window},${heads === kvHeads ? 0 : kvHeads}`;
}

/** Octaves between two shapes. Full attention and a window are far apart. */
function distance(a: AttentionShape, b: AttentionShape): number {
  const apart = (x: number, y: number): number => Math.abs(Math.log2(x / y));
  const isBounded = a.window > 0 === b.window > 0;
  const windows = isBounded ? (a.window > 0 ? apart(a.window, b.window) : 0) : 32;
  return apart(a.headDim, b.headDim) + windows + apart(a.kvHeads, b.kvHeads);
}
