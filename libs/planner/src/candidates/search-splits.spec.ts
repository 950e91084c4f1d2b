import { describe, expect, it } from 'vitest';
import type { Candidate } from './candidates';
import type { PlanFigures, PlanTask, TaskResult } from './plan-task';
import { type PlanStage, searchSplits } from './search-splits';

const FIGURES = { refused: 0, ttft_ms: { p90: 1 }, tpot_ms: { p90: 1 } } as unknown as PlanFigures;

const split = (prefill: number, decode: number, aggregated: number): Candidate => {
  return { topology: { prefill, decode, aggregated }, prefillTp: 1, decodeTp: 1, gpus: 4 };
};

/** Aggregated engines do best with 1,024 tokens, the others with the configured budget. */
function rateOf({ topology, maxNumBatchedTokens = 8_192 }: Candidate): number {
  if (topology.aggregated > 0) return 10 * (maxNumBatchedTokens === 1_024 ? 3 : 1);
  return 10 + topology.prefill + (maxNumBatchedTokens === 8_192 ? 0.1 : 0);
}

async function search(tokenBudgets: readonly number[]) {
  const stages: [PlanStage, number][] = [];
  const candidates = [split(1, 3, 0), split(2, 2, 0), split(3, 1, 0), split(0, 0, 4)].map(
    (candidate) => ({ candidate, estimatedRate: 10, idleRate: 1 }),
  );
  const target = { slo: {}, attainment: 0.9 } as unknown as Parameters<
    typeof searchSplits
  >[0]['target'];
  const run = (stage: PlanStage, tasks: readonly PlanTask[]): Promise<TaskResult[]> => {
    stages.push([stage, tasks.length]);
    return Promise.resolve(
      tasks.map((task) => {
        const rate = task.kind === 'measure' ? task.rate : rateOf(task.split);
        return { rate, completedRate: rate, figures: FIGURES, simulations: 1 };
      }),
    );
  };
  const question = { candidates, assumptions: [], target, mostSimulated: 9, tokenBudgets };
  return { result: await searchSplits(question, run), stages: Object.fromEntries(stages) };
}

describe('the search for the best split', () => {
  it('gives each design the token budget that suits it', async () => {
    const { result, stages } = await search([512, 1_024, 16_384]);
    expect(stages['token budgets']).toBe(4 * 3);
    expect(result.winner).toMatchObject({
      name: '4A mbt1024',
      split: { maxNumBatchedTokens: 1_024 },
    });
    expect(result.contenders.disaggregated?.name).toBe('3P1D');
  });

  it('keeps a budget that the user has set', async () => {
    const { result, stages } = await search([]);
    expect(stages['token budgets']).toBe(0);
    expect(result.winner.name).toBe('3P1D');
  });
});
