import { describe, expect, it } from 'vitest';
import { firstDifference } from './difference';
import { ourSteps } from './our-run';
import { recordedRuns } from './recorded';
import { workloadOf } from './workload';

const { version, runs } = recordedRuns();

describe(`the scheduler of ${version}`, () => {
  it('was recorded over some hundred workloads', () => {
    expect(runs.length).toBeGreaterThanOrEqual(300);
  });

  it('decides step by step as ours', () => {
    const differing = runs.flatMap(({ seed, steps }) => {
      const difference = firstDifference(steps, ourSteps(workloadOf(seed)));
      return difference === undefined ? [] : [`seed ${seed}: ${difference}`];
    });
    expect(differing).toEqual([]);
  });
});
