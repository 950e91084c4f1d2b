import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { compareWindows, windowInterval, windowsOf } from './windows';

describe('windows of a workload', () => {
  it('are eight, or none of a workload that is too short', () => {
    expect(windowsOf(10_000)).toHaveLength(8);
    expect(windowsOf(10_000)[7]).toEqual({ kind: 'window', at: 7, of: 8 });
    expect(windowsOf(100)).toEqual([]);
  });
});

describe('two designs, window by window', () => {
  it('differ when one is better in most windows', () => {
    const better = compareWindows(
      [61, 59, 86, 78, 92, 96, 69, 82],
      [45, 60, 67, 71, 89, 88, 67, 70],
    );
    expect(better).toEqual({ windows: 8, wins: 7, losses: 0, isBetter: true });
  });

  it('do not differ when one is better in some, and worse in as many', () => {
    const even = compareWindows([20, 20, 20, 20, 10, 10, 10, 10], [10, 10, 10, 10, 20, 20, 20, 20]);
    expect(even).toMatchObject({ wins: 4, losses: 4, isBetter: false });
  });

  it('do not differ because of one window', () => {
    const one = compareWindows([90, 10, 10, 10, 10, 10, 10, 10], [10, 10, 10, 10, 10, 10, 10, 10]);
    expect(one).toMatchObject({ wins: 1, losses: 0, isBetter: false });
  });

  it('differ where one keeps no rate at all', () => {
    const none = compareWindows([1, 2, 3, 4, 1, 2, 3, 4], [0, 0, 0, 0, 0, 0, 0, 0]);
    expect(none).toMatchObject({ wins: 8, isBetter: true });
    expect(compareWindows([0, 0], [0, 0])).toMatchObject({ wins: 0, losses: 0, isBetter: false });
  });

  it('are called different about once in ten times when they are equal', () => {
    const random = RandomStream.root(7).stream('windows');
    const drawn = (): number[] => Array.from({ length: 8 }, () => Math.exp(random.normal()));
    const trials = 2_000;
    const wrong = Array.from({ length: trials }, () => compareWindows(drawn(), drawn()));
    const share = wrong.filter(({ isBetter }) => isBetter).length / trials;
    expect(share).toBeGreaterThan(0.05);
    expect(share).toBeLessThan(0.12);
  });
});

describe('the interval of the goodput in another window', () => {
  it('holds four in five of further windows', () => {
    const random = RandomStream.root(3).stream('windows');
    const drawn = (): number => 40 * Math.exp(0.4 * random.normal());
    let [inside, trials] = [0, 0];
    for (; trials < 2_000; trials++) {
      const [low, high] = windowInterval(Array.from({ length: 8 }, drawn))!;
      const next = drawn();
      if (next >= low && next <= high) inside++;
    }
    expect(inside / trials).toBeGreaterThan(0.77);
    expect(inside / trials).toBeLessThan(0.85);
  });

  it('holds the four windows that a narrower interval missed', () => {
    const [low, high] = windowInterval([21, 17, 53, 38])!;
    expect(low).toBeLessThan(17);
    expect(high).toBeGreaterThan(53);
  });

  it('begins at zero when a window keeps no rate', () => {
    expect(windowInterval([0, 10, 12])![0]).toBe(0);
    expect(windowInterval([10])).toBeUndefined();
  });
});
