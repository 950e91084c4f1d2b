import { describe, expect, it } from 'vitest';
import { whatIfDocuments } from '../document/tornado';
import { type Assumption, concerns } from './assumption';
import { type Candidate, isAggregated } from './candidates';
import { measureSensitivity } from './measure-sensitivity';
import type { PlanTask, TaskResult } from './plan-task';
import type { Contenders, PlanResult, SplitResult } from './split-result';

const split = (prefill: number, decode: number, aggregated: number): Candidate => ({
  topology: { prefill, decode, aggregated },
  prefillTp: 1,
  decodeTp: 1,
  gpus: 4,
  settings: {},
});

function resultOf(rate: number): TaskResult {
  return { rate, completedRate: rate, figures: undefined, requests: 1, simulations: 1 };
}

function measured(name: string, one: Candidate, rate: number): SplitResult {
  return { name, split: one, estimatedRate: rate, measured: resultOf(rate) };
}

const contenders: Contenders = {
  disaggregated: measured('3P1D', split(3, 1, 0), 10),
  aggregated: measured('4A', split(0, 0, 4), 8),
};

const HALF: Assumption = { name: 'prompts x0.5', variable: 'prompt length', promptFactor: 0.5 };
const TWICE: Assumption = { name: 'prompts x2', variable: 'prompt length', promptFactor: 2 };
const LINK: Assumption = { name: 'link x2', variable: 'link', linkFactor: 2 };
const LOST: Assumption = { name: 'one prefill engine lost', variable: 'engines', lost: 'prefill' };
const GOODPUT: Record<string, number> = {
  'prompts x0.5': 15,
  'prompts x2': 4,
  'link x2': 10.5,
  'one prefill engine lost': 7,
};

function rowsOf(isDone: (task: PlanTask) => boolean = () => true) {
  return measureSensitivity(contenders, {
    assumptions: [LINK, LOST, HALF, TWICE],
    canAssume: concerns,
    taskOf: (_kind, assumption) => ({ assumption }) as unknown as PlanTask,
    run: (tasks) => {
      return Promise.resolve(
        tasks.map((task) => (isDone(task) ? resultOf(GOODPUT[task.assumption!.name]!) : undefined)),
      );
    },
  });
}

async function whatIf() {
  const sensitivity = await rowsOf();
  const winner = contenders.disaggregated!;
  return whatIfDocuments({ contenders, winner, sensitivity } as unknown as PlanResult);
}

describe('the contenders under assumptions', () => {
  it('are as configured where a link does nothing, and unknown where an engine is lost', async () => {
    const rows = await rowsOf();
    expect(
      rows.map(({ assumption, goodput }) => [assumption.name, ...Object.values(goodput)]),
    ).toEqual([
      ['as configured', 10, 8],
      ['link x2', 10.5, 8],
      ['one prefill engine lost', 7, undefined],
      ['prompts x0.5', 15, 15],
      ['prompts x2', 4, 4],
    ]);
  });

  it('are left out where the time was over', async () => {
    const rows = await rowsOf(({ assumption }) => assumption !== TWICE);
    expect(rows.map(({ assumption }) => assumption)).not.toContain(TWICE);
    expect(rows).toHaveLength(4);
  });
});

describe('the what-ifs of a split', () => {
  it('have a bar per variable, the largest effect first', async () => {
    const [winner] = await whatIf();
    expect(winner!.split).toBe('3P1D');
    expect(winner!.bars).toEqual([
      {
        variable: 'prompt length',
        low: { assumption: 'prompts x2', goodput_rps: 4 },
        high: { assumption: 'prompts x0.5', goodput_rps: 15 },
        effect: 1.1,
      },
      {
        variable: 'engines',
        low: { assumption: 'one prefill engine lost', goodput_rps: 7 },
        high: { assumption: 'as configured', goodput_rps: 10 },
        effect: 0.3,
      },
      {
        variable: 'link',
        low: { assumption: 'as configured', goodput_rps: 10 },
        high: { assumption: 'link x2', goodput_rps: 10.5 },
        effect: 0.05,
      },
    ]);
  });

  it('leave out what cannot change the split', async () => {
    const [, aggregated] = await whatIf();
    expect(isAggregated(contenders.aggregated!.split)).toBe(true);
    expect(aggregated!.bars.map(({ variable }) => variable)).toEqual(['prompt length']);
  });
});
