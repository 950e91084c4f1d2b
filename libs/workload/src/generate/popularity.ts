import { assert, type RandomStream } from '@baton/kernel';

/** The popularity of items: equal, or in proportion to 1 / k^exponent for item k. */
export type Popularity =
  { readonly kind: 'uniform' } | { readonly kind: 'zipf'; readonly exponent: number };

/** Returns a function that draws numbers from 0 to `count` - 1. */
export function picker(popularity: Popularity, count: number, random: RandomStream): () => number {
  assert(Number.isSafeInteger(count) && count >= 1, `a choice needs at least one item: ${count}`);
  if (popularity.kind === 'uniform') return () => random.integer(count);
  const { exponent } = popularity;
  assert(exponent >= 0 && Number.isFinite(exponent), `invalid Zipf exponent: ${exponent}`);
  const cumulative = new Float64Array(count);
  let sum = 0;
  for (let k = 0; k < count; k++) cumulative[k] = sum += (k + 1) ** -exponent;
  return () => firstAbove(cumulative, random.unit() * sum);
}

/** Index of the first entry above `value`. The last entry must be above it. */
function firstAbove(ascending: Float64Array, value: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
