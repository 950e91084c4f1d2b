import { PiecewiseLinear } from './piecewise-linear';

/** Whole numbers up to here find their segment by one look into a table of two bytes each. */
const INDEXED = 16_384;

/**
 * A line through points over numbers of tokens, for the innermost loop: the bits of
 * `PiecewiseLinear` without its search.
 */
export class TokenLine {
  private readonly line: PiecewiseLinear;
  private readonly segments: Uint16Array;

  /** @param tokens rising, at least one, below 65,536 of them */
  constructor(tokens: readonly number[], values: readonly number[]) {
    this.line = new PiecewiseLinear(tokens, values);
    this.segments = new Uint16Array(
      Math.max(0, Math.min(Math.floor(this.line.lastX), INDEXED)) + 1,
    );
    for (let x = 0; x < this.segments.length; x++) this.segments[x] = this.line.segmentOf(x);
  }

  /** @param tokens a whole number from 0 */
  at(tokens: number): number {
    const { line, segments } = this;
    const segment = tokens < segments.length ? segments[tokens]! : line.segmentOf(tokens);
    return line.interceptOf(segment) + line.slopeOf(segment) * tokens;
  }
}
