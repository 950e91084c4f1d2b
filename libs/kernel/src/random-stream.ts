import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import { assert } from './assert';
import { hashString, mix } from './hash';

const TWO_32 = 2 ** 32;
const TWO_26 = 2 ** 26;
const TWO_53 = 2 ** 53;

/**
 * A stream of random numbers with a name. A stream's draws depend only on the root seed and the
 * path of names, neither on draws from other streams nor on the time of opening, so that a new
 * consumer never shifts the draws of an old one.
 */
export class RandomStream {
  private readonly generator;

  private constructor(private readonly key: number) {
    this.generator = xoroshiro128plusFromState(stateOf(key));
  }

  /** The root of a run. `seed` is an integer in [0, 2^53). */
  static root(seed: number): RandomStream {
    assert(Number.isSafeInteger(seed) && seed >= 0, `seed must be an integer >= 0: ${seed}`);
    return new RandomStream(mix(seed, hashString('root')));
  }

  /** The stream of that name below this one, at its beginning. */
  stream(name: string): RandomStream {
    return new RandomStream(mix(this.key, hashString(name)));
  }

  /**
   * Uniform in [0, 1) with 53 random bits; the generator's low bits, its weak ones, are left out.
   */
  unit(): number {
    const high = this.generator.next() >>> 5;
    const low = this.generator.next() >>> 6;
    return (high * TWO_26 + low) / TWO_53;
  }

  /** Uniform integer in [0, n), n >= 1. */
  integer(n: number): number {
    return Math.floor(this.unit() * n);
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.unit());
  }

  /** Standard normal, by Box and Muller; always two uniform draws. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.unit()));
    return radius * Math.cos(2 * Math.PI * this.unit());
  }

  /**
   * Lognormal with this arithmetic mean (not the median); `sigma` is the standard deviation of the
   * logarithm.
   */
  lognormal(mean: number, sigma: number): number {
    return mean * Math.exp(sigma * this.normal() - (sigma * sigma) / 2);
  }

  /**
   * Gamma with mean shape · scale: Marsaglia and Tsang, ACM TOMS 26 (2000), with their boost for
   * shape < 1.
   */
  gamma(shape: number, scale: number): number {
    assert(shape > 0, `gamma needs shape > 0: ${shape}`);
    if (shape < 1) return this.gamma(shape + 1, scale) * (1 - this.unit()) ** (1 / shape);
    const d = shape - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = this.normal();
      const v = (1 + c * x) ** 3;
      if (v <= 0) continue;
      if (Math.log(1 - this.unit()) < 0.5 * x * x + d - d * v + d * Math.log(v)) {
        return d * v * scale;
      }
    }
  }
}

/**
 * Four 32-bit words from a 53-bit key. The last one is odd, since the generator must not start from
 * all zeros.
 */
function stateOf(key: number): readonly [number, number, number, number] {
  const a = mix(key, 1);
  const b = mix(key, 2);
  const c = mix(key, 3);
  return [a | 0, b | 0, c | 0, (mix(a, b) % TWO_32) | 1];
}
