import { assert } from '@baton/kernel';

/**
 * Consecutive requests share a queue, so a thousand of them carry less information than a thousand
 * independent ones. A sample in its order is therefore cut into blocks. The spread of the blocks
 * gives the effective size of the sample (Kish's design effect; Law, Simulation Modeling and
 * Analysis, batch means).
 */
const BLOCKS_MAX = 32;
const BLOCKS_MIN = 2;

/** Upper 10 % point of the normal distribution, for both ends of an 80 % interval. */
const Z = 1.281552;

/** Number of blocks: √count, from 2 to 32. Fewer where there are fewer values. */
export function blockCount(count: number): number {
  const blocks = Math.floor(Math.sqrt(count));
  return Math.min(count, Math.max(BLOCKS_MIN, Math.min(BLOCKS_MAX, blocks)));
}

/** Sums of a quantity over blocks of a sample, and the number of values of each block. */
export interface Blocks {
  readonly parts: Float64Array;
  readonly wholes: Float64Array;
}

/** Cuts `count` values, in their order, into `blocks` of equal size. */
export function inBlocks(
  count: number,
  partOf: (i: number) => number,
  blocks = blockCount(count),
): Blocks {
  const parts = new Float64Array(blocks);
  const wholes = new Float64Array(blocks);
  for (let block = 0, i = 0; block < blocks; block++) {
    const end = Math.floor(((block + 1) * count) / blocks);
    wholes[block] = end - i;
    for (; i < end; i++) parts[block]! += partOf(i);
  }
  return { parts, wholes };
}

/**
 * Half the width of an 80 % interval, in standard errors estimated from this many blocks (at least
 * 2): Student's t by the expansion of Cornish and Fisher (Abramowitz and Stegun 26.7.5). Above its
 * true value by at most 8 %, at two blocks.
 */
export function standardErrors(blocks: number): number {
  assert(blocks >= BLOCKS_MIN, `a spread needs two blocks: ${blocks}`);
  const freedom = blocks - 1;
  const first = (Z ** 3 + Z) / 4;
  const second = (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96;
  const third = (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384;
  return Z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}

/**
 * Standard error of Σ parts / Σ wholes over blocks (a ratio of sums, by the delta method). NaN for
 * fewer than two blocks.
 */
export function ratioError(parts: Float64Array, wholes: Float64Array): number {
  const blocks = parts.length;
  const whole = sumOf(wholes);
  const ratio = sumOf(parts) / whole;
  let squares = 0;
  for (let b = 0; b < blocks; b++) squares += (parts[b]! - ratio * wholes[b]!) ** 2;
  return Math.sqrt((squares * blocks) / (blocks - 1)) / whole;
}

/**
 * The 80 % interval (Wilson, 1927) of a share, from blocks with `parts` out of `wholes`. Blocks
 * that differ by more than chance count as a smaller sample.
 */
export function shareInterval(
  parts: Float64Array,
  wholes: Float64Array,
): readonly [number, number] {
  const count = sumOf(wholes);
  const share = sumOf(parts) / count;
  if (parts.length < BLOCKS_MIN) return [share, share];
  const chance = (share * (1 - share)) / count;
  const effect = chance === 0 ? 1 : Math.max(1, ratioError(parts, wholes) ** 2 / chance);
  return wilson(share, count / effect, standardErrors(parts.length));
}

/**
 * Wilson's interval of `share` in 0..1 among `trials` independent trials, `errors` standard errors
 * to either side.
 */
export function wilson(share: number, trials: number, errors: number): readonly [number, number] {
  const weight = errors ** 2 / trials;
  const centre = (share + weight / 2) / (1 + weight);
  const half =
    (errors / (1 + weight)) * Math.sqrt((share * (1 - share)) / trials + weight / (4 * trials));
  return [Math.min(share, Math.max(0, centre - half)), Math.max(share, Math.min(1, centre + half))];
}

export function sumOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
