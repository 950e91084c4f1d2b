import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { seededStart, successiveHalving } from './successive-halving';

interface Horse {
  readonly name: string;
  readonly group: string;
  readonly speed: number;
}

const HORSES: readonly Horse[] = Array.from({ length: 16 }, (_none, i) => {
  return { name: `h${i}`, group: i < 8 ? 'small' : 'large', speed: i };
});
const RUNGS = [
  { share: 0.1, trials: 16 },
  { share: 0.5, trials: 4 },
  { share: 1, trials: 2 },
];

function race(rankings: readonly ((speed: number) => number)[]) {
  const runs: [share: number, names: string[]][] = [];
  const result = successiveHalving(HORSES, {
    rungs: RUNGS,
    groupOf: ({ group }) => group,
    rankingsOf: () => rankings,
    run: (some, { share }, before) => {
      runs.push([share, some.map(({ name }) => name)]);
      expect(before.every((one, i) => one === (share === 0.1 ? undefined : some[i]!.speed))).toBe(
        true,
      );
      return Promise.resolve(some.map(({ speed }) => speed));
    },
  });
  return result.then((ranked) => ({ ranked, runs }));
}

describe('successive halving', () => {
  it('tries all on the shortest prefix, and the best of each group on longer ones', async () => {
    const { runs, ranked } = await race([(speed) => -speed]);
    expect(runs.map(([share, names]) => [share, names.length])).toEqual([
      [0.1, 16],
      [0.5, 4],
      [1, 2],
    ]);
    expect(runs[2]![1]).toEqual(['h7', 'h15']);
    expect(ranked.slice(0, 2).map(({ rungs }) => rungs)).toEqual([3, 3]);
    expect(new Set(ranked.map(({ candidate }) => candidate.name)).size).toBe(16);
  });

  it('makes each ranking pick in turn', async () => {
    const { runs } = await race([(speed) => -speed, (speed) => speed]);
    expect(runs[1]![1]).toEqual(['h0', 'h7', 'h8', 'h15']);
  });
});

describe('the start of a search', () => {
  const start = (seed: number): string[] => {
    return seededStart(HORSES, {
      most: 16,
      groupOf: () => 'all',
      cost: ({ speed }) => -speed,
      random: RandomStream.root(seed),
    }).map(({ name }) => name);
  };

  it('has the best by estimate, and a random share of the others', () => {
    const few = (seed: number): string[] => {
      return seededStart(HORSES, {
        most: 8,
        groupOf: () => 'all',
        cost: ({ speed }: Horse) => -speed,
        random: RandomStream.root(seed),
      }).map(({ name }) => name);
    };
    expect(few(1).slice(0, 7)).toEqual(['h15', 'h14', 'h13', 'h12', 'h11', 'h10', 'h9']);
    expect(few(1)).toEqual(few(1));
    expect(new Set([1, 2, 3, 4, 5, 6, 7, 8].map((seed) => few(seed)[7])).size).toBeGreaterThan(1);
  });

  it('names no candidate twice', () => {
    expect(new Set(start(3)).size).toBe(16);
  });
});
