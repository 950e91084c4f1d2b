import { WHOLE } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import type { PlanTask, TaskResult } from './plan-task';
import { type Measured, tune } from './tune';

/** A design with two settings, and the goodput of each. */
type Design = readonly [x: number, y: number];

function goodputOf([x, y]: Design): number {
  return 100 - 3 * (x - 4) ** 2 - 2 * (y - 2) ** 2;
}

function resultOf(rate: number): TaskResult {
  return { rate, completedRate: rate, figures: undefined, requests: 1, simulations: 1 };
}

function measured(design: Design, rate = goodputOf(design)): Measured<Design> {
  return { design, result: resultOf(rate) };
}

function movesOf([x, y]: Design): Design[] {
  const values = [0, 1, 2, 3, 4, 5];
  return [...values.map((one): Design => [one, y]), ...values.map((one): Design => [x, one])];
}

async function tuned(starts: readonly Measured<Design>[], passes = 9, most = Infinity) {
  const tasks: PlanTask[] = [];
  const designs: Design[] = [];
  const all = await tune(starts, {
    movesOf,
    nameOf: (design) => design.join(),
    taskOf: (design, rate) => {
      designs.push(design);
      return { kind: 'beat', cluster: {}, piece: WHOLE, tolerance: 0, rate };
    },
    run: (some) => {
      const from = designs.length - some.length;
      tasks.push(...some);
      return Promise.resolve(
        some.map((task, i) => {
          const goodput = goodputOf(designs[from + i]!);
          if (from + i >= most) return undefined;
          return resultOf(goodput < task.rate ? 0 : goodput);
        }),
      );
    },
    mostPasses: passes,
  });
  return { all: all.map(({ design }) => design), tried: designs.map(String), tasks };
}

describe('tuning', () => {
  it('takes the best move of each pass until none raises the goodput', async () => {
    const { all } = await tuned([measured([0, 5])]);
    expect(all).toEqual([[4, 2]]);
  });

  it('tries no design twice', async () => {
    const { tried } = await tuned([measured([0, 5]), measured([5, 0])]);
    expect(new Set(tried).size).toBe(tried.length);
  });

  it('asks a move for more than the design has', async () => {
    const { tasks } = await tuned([measured([4, 0])], 1);
    for (const { rate } of tasks) expect(rate).toBeGreaterThan(goodputOf([4, 0]));
  });

  it('leaves a design that keeps the target at no rate as it is', async () => {
    const { all, tasks } = await tuned([measured([0, 0], 0)]);
    expect([all, tasks]).toEqual([[[0, 0]], []]);
  });

  it('keeps what it knows when the time is over', async () => {
    const { all } = await tuned([measured([0, 5])], 9, 3);
    expect(all).toEqual([[3, 5]]);
  });
});
