import { describe, expect, it } from 'vitest';
import type { Candidate } from '../candidates/candidates';
import type { PlanFigures } from '../candidates/plan-task';
import type { Contenders, PlanResult, SettingRow, SplitResult } from '../candidates/split-result';
import { likeWinner, type Verdict, verdict } from './verdict';

interface Given {
  readonly apart?: number;
  readonly windows?: readonly number[];
  readonly settings?: Candidate['settings'];
}

function result(name: string, rate: number, given: Given = {}): SplitResult {
  const { apart = 1, windows, settings = {} } = given;
  const aggregated = name.includes('A') ? 1 : 0;
  const figures = { refused: 0, intervals: { model: { apart } } } as PlanFigures;
  const topology = { prefill: 1 - aggregated, decode: 1 - aggregated, aggregated };
  return {
    name,
    split: { topology, prefillTp: 1, decodeTp: 1, gpus: 2, settings },
    estimatedRate: 1,
    measured: {
      rate,
      completedRate: rate,
      requests: 100,
      simulations: 1,
      figures: rate === 0 ? undefined : figures,
    },
    windows,
  };
}

interface Known {
  readonly atDefaults?: Contenders;
  readonly settings?: readonly SettingRow[];
}

const NONE: Contenders = { disaggregated: undefined, aggregated: undefined };

function verdictOf(
  disaggregated: SplitResult,
  aggregated: SplitResult,
  known: Known = {},
): Verdict {
  const contenders = { disaggregated, aggregated };
  const [one, other] = [disaggregated, aggregated].map(({ measured }) => measured!.rate);
  const winner = one! > other! ? disaggregated : aggregated;
  const { atDefaults = NONE, settings = [] } = known;
  return verdict({ winner, contenders, atDefaults, settings } as unknown as PlanResult);
}

const EIGHT = [10, 11, 12, 13, 10, 11, 12, 13];
const MORE = EIGHT.map((rate) => rate * 1.2);

describe('the verdict', () => {
  it('is firm when the winner is better on the whole and in most windows', () => {
    const firm = verdictOf(
      result('1P1D', 12, { windows: MORE }),
      result('2A', 10, { windows: EIGHT }),
    );
    expect(firm).toEqual({
      confidence: 'firm',
      headline: '1P1D is better than 2A',
      reasons:
        '1P1D (disaggregated) sustains 12 requests/s, 20 % more than 2A (aggregated) with 10. It ' +
        'is better in 8 of 8 windows of the load and worse in 0.',
    });
  });

  it('states when disaggregation loses', () => {
    const { headline, reasons } = verdictOf(
      result('1P1D', 10, { windows: EIGHT }),
      result('2A', 12, { windows: MORE }),
    );
    expect(headline).toBe('2A is better than 1P1D');
    expect(reasons).toContain('it does not add throughput.');
  });

  it('has as its headline that the two cannot be told apart, when the windows disagree', () => {
    const mixed = EIGHT.map((rate, at) => rate * (at % 2 === 0 ? 1.3 : 0.8));
    const { confidence, headline, reasons } = verdictOf(
      result('1P1D', 12, { windows: mixed }),
      result('2A', 10, { windows: EIGHT }),
    );
    expect([confidence, headline]).toEqual(['alike', '1P1D and 2A cannot be told apart']);
    expect(reasons).toContain('It is better in 4 of 8 windows of the load and worse in 4.');
  });

  it('has the same headline when the error of the step times explains the lead', () => {
    const { headline, reasons } = verdictOf(
      result('1P1D', 12, { apart: 1.24, windows: MORE }),
      result('2A', 10, { apart: 1.24, windows: EIGHT }),
    );
    expect(headline).toBe('1P1D and 2A cannot be told apart');
    expect(reasons).toContain('Differences below 24.1 % are within the error of the step times.');
  });

  it('states no lead within the tolerance of the search', () => {
    const { confidence, reasons } = verdictOf(result('1P1D', 10.1), result('2A', 10));
    expect(confidence).toBe('alike');
    expect(reasons).toContain('the search cannot distinguish the two');
  });

  it('is untested without windows', () => {
    const { confidence, headline } = verdictOf(result('1P1D', 12), result('2A', 10));
    expect([confidence, headline]).toEqual([
      'untested',
      '1P1D is better than 2A in this one sample',
    ]);
  });

  it('compares at the settings of the configuration, and names the setting that decides', () => {
    const settings = { maxNumBatchedTokens: 1_024 };
    const aggregated = result('2A mbt1024', 20, { windows: MORE, settings });
    const known = {
      atDefaults: { disaggregated: result('1P1D', 10), aggregated: result('2A', 5) },
      settings: [
        {
          kind: 'aggregated' as const,
          change: 'default' as const,
          split: aggregated.split,
          key: 'maxNumBatchedTokens',
          goodput: 5,
        },
      ],
    };
    const { reasons } = verdictOf(result('1P1D', 10, { windows: EIGHT }), aggregated, known);
    expect(reasons).toContain('as configured, 2A sustains 5 and 1P1D 10 requests/s.');
    expect(reasons).toContain(
      'max_num_batched_tokens decides most: with it as configured, 2A mbt1024 loses 75 %.',
    );
  });

  it('names the splits that equal the winner, of either kind', () => {
    const [winner, ...others] = [
      result('1P1D', 12, { apart: 1.2 }),
      result('3P1D', 10.5, { apart: 1.2 }),
      result('2A', 9, { apart: 1.2 }),
      result('1P3D', 11, { apart: 1.2 }),
    ];
    const rivals = [...others, winner!, result('3A', 0)];
    const names = likeWinner({ winner, rivals } as unknown as PlanResult).map(({ name }) => name);
    expect(names).toEqual(['1P3D', '3P1D']);
  });

  it('states that there is no other kind to compare with', () => {
    const { confidence, reasons } = verdictOf(result('1P1D', 10), result('2A', 0));
    expect(confidence).toBe('alone');
    expect(reasons).toContain('at no rate does an aggregated split meet the target');
    const winner = result('2A', 3);
    const contenders = { disaggregated: undefined, aggregated: winner };
    const alone = verdict({ winner, contenders } as unknown as PlanResult);
    expect(alone.reasons).toContain('there is no disaggregated split to compare it with');
  });
});
