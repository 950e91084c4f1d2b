import { describe, expect, it } from 'vitest';
import type { PlanFigures } from './plan-task';
import { bestOf, comparable, preferred, type SplitResult } from './split-result';

function result(name: string, rate: number, more: { refused?: number; estimate?: number } = {}) {
  const aggregated = name.endsWith('A') ? 1 : 0;
  const figures = { refused: more.refused ?? 0 } as PlanFigures;
  return {
    name,
    split: {
      topology: { prefill: 1 - aggregated, decode: 1 - aggregated, aggregated },
      prefillTp: 1,
      decodeTp: 1,
      gpus: 2,
      settings: {},
    },
    estimatedRate: more.estimate ?? 1,
    measured: {
      rate,
      completedRate: rate,
      requests: 100,
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

  it('is not one that refuses requests which others serve', () => {
    const splits = [result('a', 9, { refused: 5 }), result('b', 3), result('c', 0)];
    expect(comparable(splits).map(({ name }) => name)).toEqual(['b', 'c']);
    const all = [result('a', 9, { refused: 5 }), result('c', 0)];
    expect(comparable(all)).toEqual(all);
  });
});

describe('the preferred kind', () => {
  it('is neither when both are within the width of the search', () => {
    expect(preferred({ disaggregated: 10.1, aggregated: 10 })).toBe('equal');
    expect(preferred({ disaggregated: 10.5, aggregated: 10 })).toBe('disaggregated');
    expect(preferred({ disaggregated: 1, aggregated: 10 })).toBe('aggregated');
  });
});
