import { describe, expect, it } from 'vitest';
import { fetchPays } from './fetch-pays';

/** A prompt of 1000 tokens, 10 µs each. */
const choice = {
  ownTokens: 200,
  poolTokens: 800,
  transferUs: 5_000,
  computeUs: (cached: number) => 10 * (1_000 - cached),
};

describe('fetchPays', () => {
  it('takes the cheaper of computing, and fetching and computing the rest', () => {
    expect(fetchPays(choice, 1)).toBe(true);
    expect(fetchPays({ ...choice, transferUs: 5_999 }, 1)).toBe(true);
    expect(fetchPays({ ...choice, transferUs: 6_000 }, 1)).toBe(false);
  });

  it('computes while the pool’s prefix is not long enough compared to its own', () => {
    expect(fetchPays(choice, 4)).toBe(true);
    expect(fetchPays(choice, 4.1)).toBe(false);
    expect(fetchPays({ ...choice, ownTokens: 0 }, 1_000)).toBe(true);
  });
});
