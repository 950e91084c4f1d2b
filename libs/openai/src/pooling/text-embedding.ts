import { hashString, mix, unitOf } from '@baton/kernel';

/** Most dimensions: twelve bits of a hash select one. */
export const MAX_DIMENSIONS = 4096;

/**
 * Each feature adds to two dimensions. 13 bits of its hash select each: 12 for the dimension, one
 * for the sign.
 */
const PLACE_MASK = MAX_DIMENSIONS - 1;

const TRIGRAM_WEIGHT = 0.5;
const PAIR_WEIGHT = 0.7;
/**
 * Weight of the part that depends on the whole text, so that no vector is zero and different texts
 * have different vectors.
 */
const OWN_WEIGHT = 0.01;

const WORD = /[\p{L}\p{N}]+/gu;

export interface EmbeddingSpace {
  /** Vectors of one model and seed are comparable. */
  readonly seed: number;
  /** Dimensions of the space, 1 to `MAX_DIMENSIONS`. */
  readonly dimensions: number;
}

/**
 * A vector of float32 values with length 1. Words, pairs of neighbours and letter trigrams are
 * hashed to dimensions (feature hashing after Charikar and Weinberger), so texts that share many of
 * them point in a similar direction. Upper and lower case count as equal.
 *
 * @param dimensions number of the space's dimensions to keep, the first ones; the result is the
 * scaled
 * beginning of a longer vector
 */
export function embedText(text: string, space: EmbeddingSpace, dimensions: number): Float32Array {
  const whole = new Float64Array(space.dimensions);
  addFeatures(whole, text.toLowerCase(), space.seed);
  addOwnPart(whole, mix(hashString(text), space.seed));
  return unitVector(whole.subarray(0, dimensions));
}

/** Cosine of the angle between two vectors, -1 to 1. */
export function similarity(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

function addFeatures(sum: Float64Array, text: string, seed: number): void {
  let former = 0;
  for (const [word] of text.matchAll(WORD)) {
    const hash = mix(hashString(word), seed) | 0;
    addFeature(sum, hash, 1);
    if (former !== 0) addFeature(sum, scramble(former ^ Math.imul(hash, 5)), PAIR_WEIGHT);
    former = hash;
    addTrigrams(sum, ` ${word} `, seed);
  }
}

/** The inner loop for long texts, in 32-bit arithmetic. */
function addTrigrams(sum: Float64Array, word: string, seed: number): void {
  for (let i = 2; i < word.length; i++) {
    const letters =
      Math.imul(word.charCodeAt(i - 2), 0x0100_0193) ^
      Math.imul(word.charCodeAt(i - 1), 0x5bd1_e995) ^
      Math.imul(word.charCodeAt(i), 0x85eb_ca6b);
    addFeature(sum, scramble(letters ^ seed), TRIGRAM_WEIGHT);
  }
}

/** The finaliser of MurmurHash3 (public domain). */
function scramble(value: number): number {
  let x = Math.imul(value ^ (value >>> 16), 0x85eb_ca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return x ^ (x >>> 16);
}

function addFeature(sum: Float64Array, hash: number, weight: number): void {
  const first = (hash & PLACE_MASK) % sum.length;
  const second = ((hash >>> 12) & PLACE_MASK) % sum.length;
  sum[first]! += hash & (1 << 24) ? weight : -weight;
  sum[second]! += hash & (1 << 25) ? weight : -weight;
}

function addOwnPart(sum: Float64Array, hash: number): void {
  const weight = (OWN_WEIGHT * Math.max(1, lengthOf(sum))) / Math.sqrt(sum.length);
  for (let i = 0; i < sum.length; i++) {
    sum[i] = (sum[i] ?? 0) + weight * (2 * unitOf(mix(hash, i)) - 1);
  }
}

function unitVector(values: Float64Array): Float32Array {
  const length = lengthOf(values);
  return new Float32Array(values.map((value) => value / length));
}

function lengthOf(values: Float64Array): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
}
