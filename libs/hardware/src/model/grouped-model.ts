import type { ModelGeometry, SlidingWindow } from './model-geometry';
import { BF16, type Precision } from './precision';

type Common = Omit<
  ModelGeometry,
  'attention' | 'feedForwardMatrices' | 'precision' | 'tiedEmbeddings' | 'aliases'
>;

export interface GroupedRow extends Common {
  readonly kvHeads: number;
  readonly headDim: number;
  readonly slidingWindow?: SlidingWindow;
  readonly aliases?: readonly string[];
  readonly tiedEmbeddings?: boolean;
  readonly feedForwardMatrices?: 2 | 3;
  readonly precision?: Precision;
}

/**
 * A model with grouped attention. By default it has a gated feed-forward, untied embeddings and
 * BF16 weights.
 */
export function grouped(row: GroupedRow): ModelGeometry {
  const { kvHeads, headDim, slidingWindow, ...rest } = row;
  const window = slidingWindow ? { slidingWindow } : {};
  return {
    aliases: [],
    tiedEmbeddings: false,
    feedForwardMatrices: 3,
    precision: BF16,
    ...rest,
    attention: { kind: 'grouped', kvHeads, headDim, ...window },
  };
}

/** Each name by itself and with `-instruct`. */
export const instruct = (...names: string[]): string[] =>
  names.flatMap((name) => [name, `${name}-instruct`]);
