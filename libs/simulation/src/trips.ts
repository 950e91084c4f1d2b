/** Stands for the sequence, or the engine, that a row does not have. */
export const NONE = -1;

/**
 * What the parts of a run know of each request under way: one row of columns per request. Most
 * columns begin with 0, so that rows which never need one take no memory. What is
 * reported later, such as the engines that a request came to, is in the columns of the log.
 */
export class Trips {
  /** Its sequence on the engine that computes the prompt. */
  readonly promptHandle: Int32Array;
  /** Its sequence on the engine that generates after a hand-over. */
  readonly outputHandle: Int32Array;
  /** 1 when one engine serves it completely. */
  readonly isWhole: Uint8Array;
  /** 1 + the decode engine that was chosen at its arrival, until it is sent to one; else 0. */
  private readonly expected: Int16Array;
  /** Its prompt tokens that the engine of `expectedAt` probably has not cached. */
  readonly uncached: Int32Array;
  /** Times that its KV was lost, so that its prompt had to be computed again. */
  readonly losses: Uint16Array;
  /** The number that its held blocks got from the engine that holds them. */
  readonly generation: Int32Array;

  constructor(count: number) {
    this.promptHandle = new Int32Array(count).fill(NONE);
    this.outputHandle = new Int32Array(count).fill(NONE);
    this.isWhole = new Uint8Array(count);
    this.expected = new Int16Array(count);
    this.uncached = new Int32Array(count);
    this.losses = new Uint16Array(count);
    this.generation = new Int32Array(count);
  }

  /** The decode engine that was chosen at the arrival of the row, or `NONE`. */
  expectedAt(row: number): number {
    return this.expected[row]! - 1;
  }

  expect(row: number, engine: number): void {
    this.expected[row] = engine + 1;
  }

  /** The run of the first stage of the row, from 1. */
  epochOf(row: number): number {
    return 1 + this.losses[row]!;
  }
}
