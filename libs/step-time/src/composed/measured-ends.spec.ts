import { type EnginePlacement, findGpu, findModel, servedIn } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { SHIPPED_OPERATORS } from '../../../../test/support/shipped-operators';
import { decoding, prompts } from '../../test/test-batches';
import { buildStepTimeModel } from '../build-step-time-model';
import type { Framework } from './framework';

const place = (model: string, gpu: string, dp = 1): EnginePlacement => ({
  model: findModel(model),
  gpu: findGpu(gpu),
  tp: 1,
  dp,
  expertParallel: dp > 1,
});
const build = (placement: EnginePlacement, framework: Framework = 'vllm') =>
  buildStepTimeModel({ kind: 'composed', framework }, placement, SHIPPED_OPERATORS);

describe('the measured range of a composed step', () => {
  it.each([
    ['a100', 8_192],
    ['h100', 32_768],
  ])('ends with the matrix products of the GPU: %s at %d tokens', (gpu, end) => {
    const model = build(place('llama-3.1-8b', gpu));
    const lengths = (count: number) => prompts(count, end / 8);
    expect(model.outsideRange!(lengths(8))).toBeUndefined();
    const what = 'tokens per step';
    expect(model.outsideRange!(lengths(9))).toMatchObject({ what, range: [0, end] });
  });

  it('ends with the experts, which get the tokens of all ranks', () => {
    const alone = build(place('qwen3-30b-a3b', 'h100')).outsideRange!(prompts(20, 1_024));
    expect(alone).toMatchObject({ what: 'tokens per step', value: 20_480, range: [0, 16_384] });
    const shared = build(place('minimax-m2', 'h100', 8));
    const what = 'tokens of all ranks per step';
    expect(shared.outsideRange!(prompts(2, 1_024))).toBeUndefined();
    expect(shared.outsideRange!(prompts(3, 1_024))).toMatchObject({ what, value: 24_576 });
  });

  it('counts the tokens that the other ranks have', () => {
    const model = build(place('minimax-m2', 'h100', 8));
    const few = { ...prompts(3, 1_024), expertTokens: 1_024 };
    expect(model.outsideRange!(few)).toBeUndefined();
    const many = { ...prompts(1, 1_024), expertTokens: 3_072 };
    expect(model.outsideRange!(many)).toMatchObject({ value: 24_576, range: [0, 16_384] });
  });

  it('ends laws of decode where the experts of all ranks end', () => {
    const model = build(place('minimax-m2', 'h100', 16));
    expect(model.outsideRange!(decoding(1_024, 100))).toBeUndefined();
    expect(model.contextLimit!(1_024)).toBeGreaterThan(0);
    expect(model.outsideRange!(decoding(1_025, 100))).toMatchObject({ value: 16_400 });
    expect(model.contextLimit!(1_025)).toBe(-1);
  });

  it('differs between steps that decode and others where their kernels do', () => {
    const gpu = findGpu('gb200');
    const model = servedIn(findModel('deepseek-v3'), gpu, { quantization: 'fp8_block' });
    const routed = build({ ...place('deepseek-v3', 'gb200', 32), model, gpu }, 'sglang');
    const ends = [prompts(64, 2_048), decoding(2_048, 100)].map(
      (batch) => routed.outsideRange!(batch)?.range[1],
    );
    expect(ends[0]).not.toBe(ends[1]);
  });
});
