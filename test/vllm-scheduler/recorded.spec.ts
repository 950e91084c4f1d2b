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

    it('has workloads that a watermark decides', () => {
      const decided = runs.filter(({ seed, steps }) => {
        const { options, ...rest } = workload(seed);
        if (options.watermarkBlocks === 0) return false;
        const without = { ...rest, options: { ...options, watermarkBlocks: 0 } };
        return firstDifference(steps, ourSteps(without)) !== undefined;
      });
      expect(decided.length).toBeGreaterThan(0);
    });
  },
);
