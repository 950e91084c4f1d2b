// Seeded normal numbers as 16-bit floats, fast enough for tens of millions.
import { Buffer } from 'node:buffer';

const QUANTILES = 4096;

/** xorshift32. */
export class RandomBits {
  constructor(seed) {
    this.state = (Math.imul(seed, 0x9e3779b1) ^ 0x85ebca6b) >>> 0 || 1;
  }

  next() {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x >>> 0;
    return this.state;
  }
}

/**
 * `count` normal numbers with this standard deviation, as little-endian halves: each is one of
 * 4,096 quantiles.
 */
export function normalHalves(bits, count, deviation) {
  const table = quantiles().map((quantile) => halfOf(quantile * deviation));
  const bytes = Buffer.allocUnsafe(count * 2);
  for (let i = 0; i < count; i += 1) bytes.writeUInt16LE(table[bits.next() >>> 20], i * 2);
  return bytes;
}

/**
 * IEEE 754 binary16 of a number, rounded to nearest; what is too small for a normal half becomes 0.
 */
export function halfOf(number) {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, number);
  const bits = view.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const rounded = (bits & 0x7fffffff) + 0x1000;
  const exponent = (rounded >>> 23) - 112;
  if (exponent <= 0) return sign;
  if (exponent >= 31) return sign | 0x7c00;
  return sign | (exponent << 10) | ((rounded >>> 13) & 0x3ff);
}

let known;

/** Mid-points of 4,096 slices of equal probability, by bisection of the error function's series. */
function quantiles() {
  known ??= Array.from({ length: QUANTILES }, (_none, i) => inverseNormal((i + 0.5) / QUANTILES));
  return known;
}

function inverseNormal(probability) {
  let [low, high] = [-6, 6];
  for (let i = 0; i < 50; i += 1) {
    const middle = (low + high) / 2;
    if (cumulative(middle) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * The normal distribution's: x e^(-x²/2) / sqrt(2 pi) times the series of x^(2k) / (1 3 5 ... (2k +
 * 1)).
 */
function cumulative(x) {
  let [term, sum] = [x, x];
  for (let k = 1; Math.abs(term) > 1e-16 && k < 300; k += 1) {
    term *= (x * x) / (2 * k + 1);
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}
