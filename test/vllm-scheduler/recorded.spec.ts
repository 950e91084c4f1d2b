import { describe, expect, it } from 'vitest';
import { firstDifference } from './difference';
import { ourSteps } from './our-run';
import { recordedRuns, SCHEDULERS } from './recorded';
import type { Workload } from './workload';

/** The options that leave a feature out. */
const WITHOUT = { watermarkBlocks: { watermarkBlocks: 0 }, drafter: {} };

describe.each(SCHEDULERS)('the recorded $name of vLLM', (scheduler) => {
  const { file, workloadOf, seeds } = scheduler;
  const { version, runs } = recordedRuns(file);

  it('names its version, and nearly all workloads', () => {
    expect(version).toMatch(/^vLLM 0\.\d+\.\d+$/);
    const left = seeds.filter((seed) => !runs.some((run) => run.seed === seed));
    expect(left.length).toBeLessThan(seeds.length / 20);
  });

  it('decides step by step as ours', () => {
    const differing = runs.flatMap(({ seed, steps }) => {
      const difference = firstDifference(steps, ourSteps(workloadOf(seed)));
      return difference === undefined ? [] : [`seed ${seed}: ${difference.text}`];
    });
    expect(differing).toEqual([]);
  });

  it.each(scheduler.decisive)('has workloads that %s decides', (name) => {
    const isDecided = runs.some(({ seed, steps }) => {
      const { options, ...rest } = workloadOf(seed);
      if (!options[name]) return false;
      const { [name]: _left, ...others } = options;
      const changed = { ...rest, options: { ...others, ...WITHOUT[name] } } as Workload;
      return firstDifference(steps, ourSteps(changed)) !== undefined;
    });
    expect(isDecided).toBe(true);
  });
});
