import { describe, expect, it } from 'vitest';
import { type Candidate, candidateName, isAggregated } from './candidates';
import type { PlanTask, TaskResult } from './plan-task';
import { designsToSize, type SmallestPlan, smallestClusters } from './smallest-clusters';
import type { SplitResult } from './split-result';

const split = (prefill: number, decode: number, aggregated: number, tp = 1): Candidate => ({
  topology: { prefill, decode, aggregated },
  prefillTp: tp,
  decodeTp: tp,
  gpus: (prefill + decode + aggregated) * tp,
  settings: {},
});

/** A prefill engine has 3 requests/s, a decode engine 9, an aggregated one 2. */
function capacityOf({ topology: { prefill, decode, aggregated }, prefillTp }: Candidate): number {
  return prefillTp * (aggregated > 0 ? 2 * aggregated : Math.min(3 * prefill, 9 * decode));
}

function measured(one: Candidate, rate = capacityOf(one)): SplitResult {
  const result = { rate, completedRate: rate, figures: undefined, requests: 1, simulations: 1 };
  return { name: candidateName(one), split: one, estimatedRate: rate, measured: result };
}

/** Answers for loads, with the number of trials. `trust`: estimates over what is true. */
async function answered(
  designs: readonly SplitResult[],
  rates: readonly number[],
  { trust = 1, trials = Infinity } = {},
) {
  const plan: SmallestPlan = {
    loads: rates.map((rate) => ({ times: 1, rate })),
    mostGpus: 32,
    estimateOf: (one) => capacityOf(one) * trust ** one.gpus,
    taskOf: (one, rate) => ({ cluster: one, rate }) as unknown as PlanTask,
    run: (tasks) => {
      return Promise.resolve(
        tasks.map((task): TaskResult | undefined => {
          if (++simulated > trials) return undefined;
          const keeps = capacityOf(task.cluster as unknown as Candidate) >= task.rate;
          const rate = keeps ? task.rate : 0;
          return { rate, completedRate: rate, figures: undefined, requests: 1, simulations: 1 };
        }),
      );
    },
  };
  let simulated = 0;
  const answers = await smallestClusters(designs, plan);
  const names = answers.map(({ smallest }) => {
    return smallest.map(({ split: one }) => (one === undefined ? 'none' : candidateName(one)));
  });
  return { names, simulated };
}

describe('the smallest cluster for a load', () => {
  it('is found from the goodput of the best splits, with few trials', async () => {
    const designs = [measured(split(6, 2, 0)), measured(split(0, 0, 8))];
    const { names, simulated } = await answered(designs, [9]);
    expect(names).toEqual([['3P1D', '5A']]);
    expect(simulated).toBeLessThanOrEqual(8);
  });

  it.each([0.8, 1.25])('is the same when estimates are off by %d per GPU', async (trust) => {
    const designs = [measured(split(6, 2, 0)), measured(split(0, 0, 8))];
    const { names, simulated } = await answered(designs, [2, 9, 40], { trust });
    expect(names).toEqual([
      ['1A', '1P1D'],
      ['3P1D', '5A'],
      ['14P5D', '20A'],
    ]);
    expect(simulated).toBeLessThan(100);
  });

  it('is none above the most GPUs that are tried', async () => {
    const { names } = await answered([measured(split(0, 0, 8))], [64, 65]);
    expect(names).toEqual([['32A'], ['none']]);
  });

  it('is left out when the time was too short', async () => {
    const { names } = await answered([measured(split(0, 0, 8))], [9], { trials: 1 });
    expect(names).toEqual([]);
  });

  it('may have smaller engines than the best split', async () => {
    const large = measured(split(0, 0, 4, 2));
    const small = measured(split(0, 0, 8));
    const designs = designsToSize(large, [large, small, measured(split(0, 0, 8), 1)]);
    expect(designs).toEqual([large, small]);
    expect((await answered(designs, [2])).names).toEqual([['1A']]);
    expect(designs.every((one) => isAggregated(one.split))).toBe(true);
  });
});
