import { findGpu, findModel, type ModelGeometry, type Precision, servedIn } from '@baton/hardware';
import { OperatorTables } from '../operators/operator-tables';
import { describe, expect, it } from 'vitest';
import { readShipped } from '../../../../test/support/shipped-operators';
import { StepComposer } from './step-composer';

const tables = OperatorTables.of('b200_sxm', { read: readShipped })!;
const gpu = findGpu('b200');

function composed(model: ModelGeometry): StepComposer {
  return new StepComposer({ model, gpu, tp: 8 }, tables);
}

function inPrecision(name: string, precision: Precision): StepComposer {
  return composed({ ...findModel(name), precision });
}

const NVFP4: Precision = { linear: 'nvfp4', experts: 'nvfp4', kvCache: 'fp8' };
const PROMPTS = { prompts: 4, length: 2048, cached: 0 };

describe('checkpoints that are quantised in part', () => {
  it("take the block of the format of attention for NVIDIA's first NVFP4 DeepSeek", () => {
    const whole = inPrecision('deepseek-v3', { ...NVFP4, attention: 'bf16' });
    const plain = inPrecision('deepseek-v3', { linear: 'bf16', experts: 'bf16', kvCache: 'fp8' });
    expect(whole.prefill(PROMPTS)).toEqual(plain.prefill(PROMPTS));
    expect(whole.prefill(PROMPTS).us).toBeGreaterThan(
      inPrecision('deepseek-v3', NVFP4).prefill(PROMPTS).us,
    );
  });

  it('exchange the projection behind attention for the second', () => {
    const tokens = PROMPTS.prompts * PROMPTS.length;
    const second = inPrecision('deepseek-v3', {
      ...NVFP4,
      attention: 'bf16',
      attentionOutput: 'nvfp4',
    });
    const first = inPrecision('deepseek-v3', { ...NVFP4, attention: 'bf16' });
    const usOf = (format: 'bf16' | 'nvfp4', rows: number) =>
      tables.gemm(format)!.timeUs(rows, 7168, (128 / 8) * 128)!;
    const saved = (rows: number) => 61 * (usOf('bf16', rows) - usOf('nvfp4', rows));
    const prefill = first.prefill(PROMPTS).us - second.prefill(PROMPTS).us;
    expect(prefill).toBeCloseTo(saved(tokens), 6);
    const batch = { sequences: 64, context: 3000 };
    expect(first.decode(batch).us - second.decode(batch).us).toBeCloseTo(saved(64), 6);
  });

  it("compose Kimi K2.5's INT4 experts, with attention and shared experts in BF16", () => {
    const model = servedIn(findModel('kimi-k2.5'), gpu, {});
    const own = composed(model);
    const plain = composed({ ...model, precision: { ...model.precision, experts: 'bf16' } });
    const batch = { sequences: 16, context: 2000 };
    expect(own.decode(batch)).toEqual(plain.decode(batch));
    const expertsOf = (composer: StepComposer) =>
      composer.linear(4096, false).find(({ name }) => name === 'experts')!.us;
    const shape = {
      ...({ distribution: 'power_law_1.01', topK: 8, experts: 384, hidden: 7168 } as const),
      intermediate: 2048,
      tensorParallel: 8,
      expertParallel: 1,
    };
    expect(expertsOf(own)).toBe(60 * tables.experts('int4_wo')!.timeUs(shape, 4096)!);
  });

  it('take the formats of attention in grouped attention too', () => {
    const own = inPrecision('llama-3.1-70b', { ...NVFP4, attention: 'bf16' });
    const plain = inPrecision('llama-3.1-70b', { ...NVFP4, linear: 'bf16' });
    const usOf = (composer: StepComposer, wanted: string) =>
      composer.linear(512, false).find(({ name }) => name === wanted)!.us;
    expect(usOf(own, 'qkv')).toBe(usOf(plain, 'qkv'));
    expect(usOf(own, 'gate and up')).toBeLessThan(usOf(plain, 'gate and up'));
  });
});
