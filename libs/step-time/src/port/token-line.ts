import { PiecewiseLinear } from './piecewise-linear';

/** Whole numbers up to this find their segment by one lookup in a table of two bytes each. */
const INDEXED = 16_384;

/**
 * A line through points over numbers of tokens, for the innermost loop: the bits of
 * `PiecewiseLinear` without its search. Where batches run in CUDA graphs, one takes the value of
 * the next captured size; above the largest it takes its own.
 */
export class TokenLine {
  private readonly line: PiecewiseLinear;
  private readonly segments: Uint16Array;
  /** The captured sizes, by number of tokens up to the largest. */
  private readonly padded: Uint16Array;

  /**
   * @param tokens rising, at least one, below 65,536 of them
   * @param captured rising, each a positive integer below 65,536
   */
  constructor(
    tokens: readonly number[],
    values: readonly number[],
    captured: readonly number[] = [],
  ) {
    this.padded = new Uint16Array((captured.at(-1) ?? 0) + 1);
    for (let i = 0; i < captured.length; i++) {
      this.padded.fill(captured[i]!, (captured[i - 1] ?? 0) + 1, captured[i]! + 1);
    }
    this.line = new PiecewiseLinear(tokens, values);
    this.segments = new Uint16Array(
      Math.max(0, Math.min(Math.floor(this.line.lastX), INDEXED)) + 1,
    );
    let x = 0;
    for (let segment = 0; x < this.segments.length; segment++) {
      for (; x < this.segments.length && x <= this.line.endOf(segment); x++) {
        this.segments[x] = segment;
      }
    }
  }

  /** @param tokens a whole number from 0 */
  at(tokens: number): number {
    const { line, segments, padded } = this;
    const size = tokens < padded.length ? padded[tokens]! : tokens;
    const segment = size < segments.length ? segments[size]! : line.segmentOf(size);
    return line.interceptOf(segment) + line.slopeOf(segment) * size;
  }
}
