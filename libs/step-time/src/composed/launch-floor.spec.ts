import { findGpu, findModel } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { launchFloorUs } from './launch-floor';

const floorOf = (model: string, gpu: string, framework: 'sglang' | 'vllm' = 'sglang'): number =>
  launchFloorUs({ model: findModel(model), gpu: findGpu(gpu), tp: 8 }, framework);

describe('the least time of a step with prompts', () => {
  it('is what SGLang takes to launch the layers of DeepSeek, longer on Grace', () => {
    expect(floorOf('deepseek-v3', 'b200')).toBeCloseTo(82_641, 6);
    const [gb200, gb300] = ['gb200', 'gb300'].map((gpu) => floorOf('deepseek-v3', gpu));
    expect(gb200).toBeCloseTo((82_641 * 37.08) / 13.48, 6);
    expect(gb300).toBe(gb200);
  });

  it('is not known for other models and frameworks', () => {
    expect(floorOf('deepseek-v3', 'gb200', 'vllm')).toBe(0);
    expect(floorOf('qwen3-235b-a22b', 'gb200')).toBe(0);
  });
});
