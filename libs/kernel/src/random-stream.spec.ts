import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvariantError } from './assert';
import { RandomStream } from './random-stream';

const draws = (stream: RandomStream, count = 20) =>
  Array.from({ length: count }, () => stream.unit());

const name = fc.string({ maxLength: 12 });

function momentsOf(draw: () => number, count = 40_000): { mean: number; variance: number } {
  const values = Array.from({ length: count }, draw);
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count;
  return { mean, variance };
}

describe('RandomStream', () => {
  it('draws the same from the same seed and name', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), name, (seed, label) => {
        const a = draws(RandomStream.root(seed).stream(label));
        expect(draws(RandomStream.root(seed).stream(label))).toEqual(a);
        expect(a.every((value) => value >= 0 && value < 1)).toBe(true);
      }),
    );
  });

  it('opens a stream whose draws do not depend on what other streams drew before', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), name, name, fc.nat(50), (seed, label, other, drawn) => {
        const fresh = draws(RandomStream.root(seed).stream(label));
        const root = RandomStream.root(seed);
        draws(root, drawn);
        draws(root.stream(other), drawn);
        expect(draws(root.stream(label))).toEqual(fresh);
      }),
    );
  });

  it('gives different draws to different names and seeds', () => {
    fc.assert(
      fc.property(fc.nat(), name, name, (seed, a, b) => {
        fc.pre(a !== b);
        const root = RandomStream.root(seed);
        expect(draws(root.stream(a))).not.toEqual(draws(root.stream(b)));
        expect(draws(root)).not.toEqual(draws(RandomStream.root(seed + 1)));
      }),
    );
  });

  it('has uncorrelated streams', () => {
    const root = RandomStream.root(1);
    const a = root.stream('arrivals');
    const b = root.stream('lengths');
    const product = () => (a.unit() - 0.5) * (b.unit() - 0.5);
    expect(Math.abs(momentsOf(product).mean)).toBeLessThan(0.002);
  });

  it('reaches every integer below n and no other', () => {
    const stream = RandomStream.root(3);
    const seen = new Set(Array.from({ length: 500 }, () => stream.integer(7)));
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it.each([
    ['unit', (s: RandomStream) => s.unit(), 0.5, 1 / 12],
    ['exponential', (s: RandomStream) => s.exponential(3), 3, 9],
    ['normal', (s: RandomStream) => s.normal(), 0, 1],
    ['lognormal', (s: RandomStream) => s.lognormal(100, 0.5), 100, 1e4 * Math.expm1(0.25)],
    ['gamma', (s: RandomStream) => s.gamma(4, 0.5), 2, 1],
    ['gamma below shape 1', (s: RandomStream) => s.gamma(0.25, 2), 0.5, 1],
  ])('draws %s with the mean and variance that its parameters say', (_, draw, mean, variance) => {
    const stream = RandomStream.root(11);
    const seen = momentsOf(() => draw(stream));
    const scale = Math.sqrt(variance);
    expect(Math.abs(seen.mean - mean) / scale).toBeLessThan(0.02);
    expect(seen.variance / variance).toBeGreaterThan(0.93);
    expect(seen.variance / variance).toBeLessThan(1.07);
  });

  it('refuses a seed that is not an integer from 0', () => {
    expect(() => RandomStream.root(0.5)).toThrow(InvariantError);
    expect(() => RandomStream.root(-1)).toThrow(InvariantError);
  });
});
