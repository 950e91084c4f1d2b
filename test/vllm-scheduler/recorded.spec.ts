import { describe, expect, it } from 'vitest';
import { firstDifference } from './difference';
import { ourSteps } from './our-run';
import { RECORDED, RECORDED_ASYNC, recordedRuns } from './recorded';
import { asyncWorkloadOf, type Workload, workloadOf } from './workload';

describe.each([
  ['scheduler', RECORDED, workloadOf, 300],
  ['AsyncScheduler', RECORDED_ASYNC, asyncWorkloadOf, 50],
] satisfies [string, string, (seed: number) => Workload, number][])(
  'the recorded %s of vLLM',
  (_name, file, workload, count) => {
    const { version, runs } = recordedRuns(file);

    it('names its version, and many workloads', () => {
      expect(version).toMatch(/^vLLM 0\.\d+\.\d+$/);
      expect(runs.length).toBeGreaterThanOrEqual(count);
    });

    it('decides step by step as ours', () => {
      const differing = runs.flatMap(({ seed, steps }) => {
        const difference = firstDifference(steps, ourSteps(workload(seed)));
        return difference === undefined ? [] : [`seed ${seed}: ${difference}`];
      });
      expect(differing).toEqual([]);
    });

    it.each([
      ['a watermark', { watermarkBlocks: 0 }],
      ['a drafter with KV of its own', { drafter: undefined }],
    ])('has workloads that %s decides', (_what, without) => {
      const [name] = Object.keys(without) as ('watermarkBlocks' | 'drafter')[];
      const isDecided = runs.some(({ seed, steps }) => {
        const { options, ...rest } = workload(seed);
        if (!options[name!]) return false;
        const { [name!]: _left, ...others } = options;
        const changed = { ...rest, options: { ...others, ...without } } as Workload;
        return firstDifference(steps, ourSteps(changed)) !== undefined;
      });
      expect(isDecided).toBe(true);
    });
  },
);
