/** Stands for the sequence, or the engine, that a row does not have. */
export const NONE = -1;

/**
 * What the parts of a run know of each request under way: one row of columns per request. What is
 * reported later, such as the engines that a request came to, is in the columns of the log.
 */
export class Trips {
  /** Its sequence on the engine that computes the prompt. */
  readonly promptHandle: Int32Array;
  /** Its sequence on the engine that generates after a hand-over. */
  readonly outputHandle: Int32Array;
  /** 1 when one engine serves it completely. */
  readonly isWhole: Uint8Array;
  /** The decode engine that was chosen at its arrival, until it is sent to one. */
  readonly expectedAt: Int16Array;
  /** Its prompt tokens that the engine of `expectedAt` probably has not cached. */
  readonly uncached: Int32Array;
  /** Its run of the first stage, from 1. */
  readonly epoch: Uint16Array;
  /** The number that its held blocks got from the engine that holds them. */
  readonly generation: Int32Array;

  constructor(count: number) {
    this.promptHandle = new Int32Array(count).fill(NONE);
    this.outputHandle = new Int32Array(count).fill(NONE);
    this.isWhole = new Uint8Array(count);
    this.expectedAt = new Int16Array(count).fill(NONE);
    this.uncached = new Int32Array(count);
    this.epoch = new Uint16Array(count).fill(1);
    this.generation = new Int32Array(count);
  }
}
