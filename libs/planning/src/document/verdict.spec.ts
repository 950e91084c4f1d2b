import type { PlanFigures, PlanResult, SplitResult } from '@baton/planner';
import { describe, expect, it } from 'vitest';
import { verdict } from './verdict';

function result(name: string, rate: number) {
  const aggregated = name.endsWith('A') ? 1 : 0;
  const figures = { refused: 0 } as PlanFigures;
  return {
    name,
    split: {
      topology: { prefill: 1 - aggregated, decode: 1 - aggregated, aggregated },
      ...{ prefillTp: 1, decodeTp: 1, gpus: 2 },
    },
    estimatedRate: 1,
    measured: {
      rate,
      completedRate: rate,
      simulations: 1,
      figures: rate === 0 ? undefined : figures,
    },
  } satisfies SplitResult;
}

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
      '1P1D (disaggregated) keeps 12 requests/s, 20 % more than 2A, the best aggregated ' +
        'split (10 requests/s).',
    );
  });

  it('does not hide that disaggregation loses', () => {
    expect(told(10, 12)).toMatch(/^2A \(aggregated\) keeps 12 requests\/s, 20 % more than 1P1D/);
    expect(told(10, 12)).toMatch(/throughput it does not add\.$/);
  });

  it('does not make a difference out of the width of the search', () => {
    expect(told(10.1, 10)).toContain('no more than the search can tell apart');
  });

  it('says when there is nobody to compare with', () => {
    expect(told(10, 0)).toContain('no aggregated split keeps the target');
    const winner = result('2A', 3);
    const contenders = { disaggregated: undefined, aggregated: winner };
    const alone = verdict({ winner, contenders } as unknown as PlanResult);
    expect(alone).toContain('there is no disaggregated split');
  });
});
