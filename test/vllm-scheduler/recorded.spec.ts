import { describe, expect, it } from 'vitest';
import { firstDifference } from './difference';
import { ourSteps } from './our-run';
import { recordedRuns, SCHEDULERS } from './recorded';
import type { Workload } from './workload';

describe.each(SCHEDULERS)('the recorded $name of vLLM', ({ file, workloadOf, seeds }) => {
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

  it.each([
    ['a watermark', { watermarkBlocks: 0 }],
    ['a drafter with KV of its own', { drafter: undefined }],
  ])('has workloads that %s decides', (_what, without) => {
    const [name] = Object.keys(without) as ('watermarkBlocks' | 'drafter')[];
    const isDecided = runs.some(({ seed, steps }) => {
      const { options, ...rest } = workloadOf(seed);
      if (!options[name!]) return false;
      const { [name!]: _left, ...others } = options;
      const changed = { ...rest, options: { ...others, ...without } } as Workload;
      return firstDifference(steps, ourSteps(changed)) !== undefined;
    });
    expect(isDecided).toBe(true);
  });
});
