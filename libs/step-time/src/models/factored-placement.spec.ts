import { type EnginePlacement, findGpu, findModel } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { SHIPPED_OPERATORS } from '../../../../test/support/shipped-operators';
import { decoding } from '../../test/test-batches';
import { buildStepTimeModel } from '../build-step-time-model';
import type { FactorProfile } from './factors';

const PROFILE: FactorProfile = { prefill: 1, decode: 1, constantMs: 0, valid: {} };
const place = (model: string, ranks: Partial<EnginePlacement> = {}): EnginePlacement => ({
  model: findModel(model),
  gpu: findGpu('h100'),
  tp: 1,
  ...ranks,
});
const build = (profile: FactorProfile, placement: EnginePlacement, choices: object = {}) =>
  buildStepTimeModel({ kind: 'factors', profile, ...choices }, placement, SHIPPED_OPERATORS);

describe('factors over the composed steps of a deployment', () => {
  const dense = place('llama-3.1-8b');

  it.each([
    { cudaGraphSizes: [1, 2, 4, 8, 16] },
    { isSynchronous: true },
    { framework: 'trtllm' as const },
  ])('take its choice %j', (choices) => {
    const { framework } = choices as { framework?: 'trtllm' };
    const spec = { kind: 'composed', overheadMs: 0, ...choices } as const;
    const composed = buildStepTimeModel(spec, dense, SHIPPED_OPERATORS);
    const batch = decoding(9, 3_000);
    const us = build({ ...PROFILE, framework }, dense, choices).stepUs(batch);
    expect(us).toBeCloseTo(composed.stepUs(batch), 6);
    expect(us).not.toBeCloseTo(build(PROFILE, dense).stepUs(batch), 1);
  });

  it('are refused for the kernels of another framework', () => {
    expect(() => build(PROFILE, dense, { framework: 'sglang' })).toThrow(
      'The step-time profile was fitted for vllm, not for sglang.',
    );
  });

  it('are refused for experts that other ranks share, and not for ranks that share nothing', () => {
    const experts = place('qwen3-30b-a3b', { dp: 2, expertParallel: true });
    expect(() => build(PROFILE, experts)).toThrow(
      'fitted for vllm over 1 data-parallel ranks, not for vllm over 2 data-parallel ranks with ' +
        'expert parallelism.',
    );
    expect(build({ ...PROFILE, dp: 2, expertParallel: true }, experts).method).toBe('calibrated');
    expect(build(PROFILE, place('llama-3.1-8b', { dp: 2 })).method).toBe('calibrated');
  });
});
