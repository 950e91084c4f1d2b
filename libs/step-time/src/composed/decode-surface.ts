import { lowerBound } from '../operators/curve';
import type { DecodeLaw } from '../port/step-time-model';
import type { TabulatedStep } from './tabulated-step';

/**
 * Decode-only steps as straight lines over Σ context, piece by piece, for each number of sequences.
 * Owns the pieces requested so far; the time of other operators comes as `fixedUs`.
 */
export class DecodeSurface {
  private readonly rows: (Row | undefined)[] = [];

  constructor(
    private readonly grid: TabulatedStep['decode'],
    private readonly fixedUs: (sequences: number) => number,
  ) {}

  /** The piece that contains Σ context; the last one has no end. */
  lawAt(sequences: number, context: number): DecodeLaw {
    const row = (this.rows[sequences] ??= this.rowOf(sequences));
    const piece = Math.min(lowerBound(row.ends, context), row.laws.length - 1);
    return row.laws[piece]!;
  }

  /** Attention of sequences with so much context in all, alone. */
  attentionUs(sequences: number, context: number): number {
    const { baseUs, perContextUs } = this.lawAt(sequences, context);
    return baseUs + perContextUs * context - this.rows[sequences]!.fixedUs;
  }

  private rowOf(sequences: number): Row {
    const { contexts } = this.grid;
    const us = rising(this.timesOf(sequences));
    const fixedUs = this.fixedUs(sequences);
    const ends: number[] = [];
    const laws: DecodeLaw[] = [];
    for (let i = 1; i < contexts.length; i++) {
      const [from, to] = [contexts[i - 1]! * sequences, contexts[i]! * sequences];
      const perContextUs = (us[i]! - us[i - 1]!) / (to - from);
      const isLast = i === contexts.length - 1;
      const contextLimit = isLast ? Infinity : to;
      ends.push(contextLimit);
      laws.push({ baseUs: fixedUs + us[i - 1]! - perContextUs * from, perContextUs, contextLimit });
    }
    return { ends, laws, fixedUs };
  }

  /** Times at the grid's contexts, between two of its numbers of sequences. */
  private timesOf(sequences: number): readonly number[] {
    const { sequences: known, us } = this.grid;
    const above = Math.min(lowerBound(known, sequences), known.length - 1);
    const high = us[above]!;
    if (known[above] === sequences || above === 0) return high;
    const low = us[above - 1]!;
    const share = (sequences - known[above - 1]!) / (known[above]! - known[above - 1]!);
    return high.map((value, i) => low[i]! + (value - low[i]!) * share);
  }
}

/**
 * More context never takes less time: where measured times fall, which is noise, neighbours are
 * pooled into their mean until none falls (isotonic regression).
 */
function rising(us: readonly number[]): number[] {
  const pools: { sum: number; count: number }[] = [];
  for (const value of us) {
    let pool = { sum: value, count: 1 };
    for (let last = pools.at(-1); last && last.sum * pool.count > pool.sum * last.count;) {
      pool = { sum: pool.sum + last.sum, count: pool.count + last.count };
      pools.pop();
      last = pools.at(-1);
    }
    pools.push(pool);
  }
  return pools.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count));
}

interface Row {
  /** Largest Σ context of each piece. */
  readonly ends: readonly number[];
  readonly laws: readonly DecodeLaw[];
  readonly fixedUs: number;
}
