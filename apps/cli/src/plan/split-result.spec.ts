import { describe, expect, it } from 'vitest';
import { bestOf, comparable, type PlanResult, type SplitResult } from './split-result';
import type { PlanFigures } from './task';
import { preferred, verdict } from './verdict';

function result(name: string, rate: number, more: { refused?: number; estimate?: number } = {}) {
  const aggregated = name.endsWith('A') ? 1 : 0;
  const figures = { refused: more.refused ?? 0 } as PlanFigures;
  return {
    name,
    split: {
      topology: { prefill: 1 - aggregated, decode: 1 - aggregated, aggregated },
      ...{ prefillTp: 1, decodeTp: 1, gpus: 2 },
    },
    estimatedRate: more.estimate ?? 1,
    measured: {
      rate,
      completedRate: rate,
      simulations: 1,
      figures: rate === 0 ? undefined : figures,
    },
  } satisfies SplitResult;
}

describe('the best split', () => {
  it('has the highest rate, and of equals the higher estimate', () => {
    const splits = [result('a', 1), result('b', 3), result('c', 3, { estimate: 2 })];
    expect(bestOf(splits)?.name).toBe('c');
    expect(bestOf([])).toBeUndefined();
  });

  it('was simulated', () => {
    const idle = { ...result('a', 9), measured: undefined };
    expect(bestOf([idle])).toBeUndefined();
    expect(bestOf([idle, result('b', 0)])?.name).toBe('b');
  });

  it('is not one that turns away what others serve', () => {
    const splits = [result('a', 9, { refused: 5 }), result('b', 3), result('c', 0)];
    expect(comparable(splits).map(({ name }) => name)).toEqual(['b', 'c']);
    const all = [result('a', 9, { refused: 5 }), result('c', 0)];
    expect(comparable(all)).toEqual(all);
  });
});

function told(disaggregated: number, aggregated: number): string {
  const contenders = {
    disaggregated: result('1P1D', disaggregated),
    aggregated: result('2A', aggregated),
  };
  const winner = disaggregated > aggregated ? contenders.disaggregated : contenders.aggregated;
  return verdict({ winner, contenders } as unknown as PlanResult);
}

describe('the verdict', () => {
  it('says by how much the winner is ahead of the other kind', () => {
    expect(told(12, 10)).toBe(
      '1P1D (disaggregated) keeps 12 requests/s, 20 % more than 2A, the best aggregated split (10 requests/s).',
    );
  });

  it('does not hide that disaggregation loses', () => {
    expect(told(10, 12)).toMatch(/^2A \(aggregated\) keeps 12 requests\/s, 20 % more than 1P1D/);
    expect(told(10, 12)).toMatch(/throughput it does not add\.$/);
  });

  it('does not make a difference out of the width of the search', () => {
    expect(told(10.1, 10)).toContain('no more than the search can tell apart');
    expect(preferred({ disaggregated: 10.1, aggregated: 10 })).toBe('equal');
    expect(preferred({ disaggregated: 10.5, aggregated: 10 })).toBe('disaggregated');
    expect(preferred({ disaggregated: 1, aggregated: 10 })).toBe('aggregated');
  });

  it('says when there is nobody to compare with', () => {
    expect(told(10, 0)).toContain('no aggregated split keeps the target');
    const winner = result('2A', 3);
    const contenders = { disaggregated: undefined, aggregated: winner };
    const alone = verdict({ winner, contenders } as unknown as PlanResult);
    expect(alone).toContain('there is no disaggregated split');
  });
});
