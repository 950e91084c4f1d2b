import type { PlanFigures } from '../candidates/plan-task';
import type { PlanResult, SplitResult } from '../candidates/split-result';
import { describe, expect, it } from 'vitest';
import { likeWinner, verdict } from './verdict';

function result(name: string, rate: number, apart = 1) {
  const aggregated = name.endsWith('A') ? 1 : 0;
  const figures = { refused: 0, intervals: { model: { apart } } } as PlanFigures;
  return {
    name,
    split: {
      topology: { prefill: 1 - aggregated, decode: 1 - aggregated, aggregated },
      prefillTp: 1,
      decodeTp: 1,
      gpus: 2,
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

function verdictOf(disaggregated: number, aggregated: number, apart = 1): string {
  const contenders = {
    disaggregated: result('1P1D', disaggregated, apart),
    aggregated: result('2A', aggregated, apart),
  };
  const winner = disaggregated > aggregated ? contenders.disaggregated : contenders.aggregated;
  return verdict({ winner, contenders } as unknown as PlanResult);
}

describe('the verdict', () => {
  it('states the lead of the winner over the other kind', () => {
    expect(verdictOf(12, 10)).toBe(
      '1P1D (disaggregated) sustains 12 requests/s, 20 % more than 2A, the best aggregated ' +
        'split (10 requests/s).',
    );
  });

  it('states when disaggregation loses', () => {
    expect(verdictOf(10, 12)).toMatch(
      /^2A \(aggregated\) sustains 12 requests\/s, 20 % more than 1P1D/,
    );
    expect(verdictOf(10, 12)).toMatch(/it does not add throughput\.$/);
  });

  it('states no lead within the tolerance of the search', () => {
    expect(verdictOf(10.1, 10)).toContain('The search cannot distinguish that from');
  });

  it('states that step times are too uncertain', () => {
    expect(verdictOf(12, 10, 1.24)).toMatch(
      /20 % more than 2A.*cannot be told apart: differences below 24.1 % are .*\.$/,
    );
    expect(verdictOf(10, 12, 1.24)).not.toContain('it does not add throughput');
    expect(verdictOf(12, 10, 1.1)).not.toContain('told apart');
  });

  it('names the splits that equal the winner, of either kind', () => {
    const winner = result('1P1D', 12, 1.2);
    const others = [result('3P1D', 10.5, 1.2), result('2A', 9, 1.2), result('1P3D', 11, 1.2)];
    const rivals = [...others, winner, result('3A', 0)];
    const names = likeWinner({ winner, rivals } as unknown as PlanResult).map(({ name }) => name);
    expect(names).toEqual(['1P3D', '3P1D']);
  });

  it('states that there is no other kind to compare with', () => {
    expect(verdictOf(10, 0)).toContain('no aggregated split meets the target');
    const winner = result('2A', 3);
    const contenders = { disaggregated: undefined, aggregated: winner };
    const alone = verdict({ winner, contenders } as unknown as PlanResult);
    expect(alone).toContain('there is no disaggregated split');
  });
});
