import { findGpu, findModel, HardwareError } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { type BatchAggregates, buildStepTimeModel, type StepTimeSpec } from '..';
import { decoding, prompts } from '../../test/test-batches';

const PLACEMENT = { model: findModel('llama-3.1-8b'), gpu: findGpu('h100'), tp: 1 };
const build = (spec: StepTimeSpec, placement = PLACEMENT) => buildStepTimeModel(spec, placement);
const prompt = (tokens: number, cached = 0) => prompts(1, tokens, cached);
const both = (a: BatchAggregates, b: BatchAggregates): BatchAggregates => ({
  ...a,
  decodeSeqs: b.decodeSeqs,
  decodeContext: b.decodeContext,
});

describe('auto', () => {
  it('uses the calibration if one is shipped, else the roofline', () => {
    expect(build({ kind: 'auto' }).description).toContain('calibrated Llama-3.1-8B');
    const other = { ...PLACEMENT, gpu: findGpu('l40s') };
    expect(build({ kind: 'auto' }, other).description).toContain('roofline llama-3.1-8b on l40s');
  });
});

describe('calibrated', () => {
  const model = build({ kind: 'calibrated', overheadMs: 2 });

  it('does not exist without measurements', () => {
    const unmeasured = { ...PLACEMENT, model: findModel('qwen3-8b') };
    expect(() => build({ kind: 'calibrated' }, unmeasured)).toThrow(HardwareError);
    expect(() => build({ kind: 'calibrated' }, unmeasured)).toThrow('use the roofline model');
  });

  it('adds the overhead to each step', () => {
    const bare = build({ kind: 'calibrated', overheadMs: 0 });
    expect(model.stepUs(decoding(8, 100)) - bare.stepUs(decoding(8, 100))).toBeCloseTo(2000, 6);
    expect(model.stepUs(prompt(100)) - bare.stepUs(prompt(100))).toBeCloseTo(2000, 6);
  });

  it('counts attention only of the part that is in the batch', () => {
    const bare = build({ kind: 'calibrated', overheadMs: 0 });
    const mixed = bare.stepUs(both(prompt(256), decoding(0, 0)));
    expect(mixed).toBe(bare.stepUs(prompt(256)));
    // lin(256) + h0 + h1 · 256² of data/profiles/unified_model.json.
    expect(mixed / 1000).toBeCloseTo(7.6752 + 0.324909 + 3.92033e-7 * 256 ** 2, 6);
  });

  it('multiplies decode attention by the mixed factor in mixed steps only', () => {
    const factor = build({ kind: 'calibrated', overheadMs: 2, mixedDecodeFactor: 3.2 });
    const added = 2.2 * (0.436803 + 0.00312546 * 8 + 4.22419e-5 * 8000);
    const mixed = both(prompt(512), decoding(8, 1000));
    expect((factor.stepUs(mixed) - model.stepUs(mixed)) / 1000).toBeCloseTo(added, 6);
    expect(factor.stepUs(decoding(8, 1000))).toBe(model.stepUs(decoding(8, 1000)));
    expect(factor.stepUs(prompt(512))).toBe(model.stepUs(prompt(512)));
  });

  it('continues with the last slope beyond the last measured size, and reports it', () => {
    expect(model.outsideRange!(prompt(16_384))).toBeUndefined();
    expect(model.outsideRange!(prompt(16_385))).toBeDefined();
    const linear = (tokens: number) => model.stepUs({ ...prompt(tokens), prefillQuadratic: 0 });
    const slope = (linear(16_384) - linear(12_288)) / 4096;
    expect(linear(20_000) - linear(16_384)).toBeCloseTo(slope * 3616, 3);
  });
});

describe('roofline', () => {
  it('reads the weights and the KV once per decode step', () => {
    const gpu = findGpu('h100');
    const model = build({ kind: 'roofline', overheadMs: 0 });
    const slope = model.decodeLaw!(1)!.perContextUs;
    const bytesPerUs = (gpu.memoryBytesPerSecond / 1e6) * gpu.efficiency.memory;
    expect(slope).toBeCloseTo(131_072 / bytesPerUs, 9);
    const weights = (8.03e9 - 128_256 * 4096) * 2;
    const expected = weights / bytesPerUs + 32 * gpu.efficiency.layerOverheadUs;
    expect(model.stepUs(decoding(1, 0)) / expected).toBeCloseTo(1, 3);
  });

  it('reads more experts for a larger batch, up to all of them', () => {
    const mixture = { model: findModel('qwen3-30b-a3b'), gpu: findGpu('h200'), tp: 1 };
    const model = build({ kind: 'roofline', overheadMs: 0 }, mixture);
    const at = (seqs: number) => model.stepUs(decoding(seqs, 0));
    expect(at(8) / at(1)).toBeGreaterThan(2);
    expect(at(96) / at(80)).toBeLessThan(1.05);
  });

  it('counts a window instead of the context in windowed layers', () => {
    const windowed = { model: findModel('gpt-oss-20b'), gpu: findGpu('h100'), tp: 1 };
    const slope = build({ kind: 'roofline' }, windowed).decodeLaw!(4)!.perContextUs;
    const { attention: _, ...rest } = windowed.model;
    const full = { ...rest, attention: { kind: 'grouped', kvHeads: 8, headDim: 64 } as const };
    const whole = build({ kind: 'roofline' }, { ...windowed, model: full }).decodeLaw!(4)!;
    expect(whole.perContextUs / slope).toBeCloseTo(2, 9);
  });

  it('refuses a degree that the heads do not allow', () => {
    expect(() => build({ kind: 'roofline' }, { ...PLACEMENT, tp: 5 })).toThrow(HardwareError);
  });
});

describe('constant and per-token', () => {
  const load = { timeFactorUnderLoad: 3, maxNumSeqs: 5 };
  const constant = build({
    kind: 'constant',
    timeToFirstTokenMs: 100,
    interTokenLatencyMs: 10,
    ...load,
  });
  const perToken = build({
    kind: 'per-token',
    prefillOverheadMs: 20,
    prefillTimePerTokenMs: 0.5,
    interTokenLatencyMs: 10,
  });

  it('take the configured times', () => {
    expect(constant.stepUs(prompt(1))).toBe(100_000);
    expect(constant.stepUs(prompt(9000))).toBe(100_000);
    expect(constant.stepUs(decoding(1, 50))).toBe(10_000);
    expect(perToken.stepUs(prompt(40, 1000))).toBe(40_000);
  });

  it('take the longer part of a mixed step', () => {
    expect(perToken.stepUs(both(prompt(40), decoding(3, 9)))).toBe(40_000);
    const fast = build({
      kind: 'per-token',
      prefillOverheadMs: 0,
      prefillTimePerTokenMs: 0.01,
      interTokenLatencyMs: 10,
    });
    expect(fast.stepUs(both(prompt(40), decoding(3, 9)))).toBe(10_000);
  });

  it('slow down linearly with the number of running sequences', () => {
    expect(constant.stepUs(decoding(3, 1))).toBe(20_000);
    expect(constant.stepUs(decoding(5, 1))).toBe(30_000);
  });

  it('never give a step of no length', () => {
    const zero = build({ kind: 'constant', timeToFirstTokenMs: 0, interTokenLatencyMs: 0 });
    expect(zero.stepUs(decoding(1, 1))).toBe(1);
    expect(zero.decodeLaw!(1)!.baseUs).toBe(1);
  });
});

describe('polynomial', () => {
  it('defaults to the fits of the Dynamo mocker', () => {
    const model = build({ kind: 'polynomial' });
    expect(model.stepUs(prompt(1000)) / 1000).toBeCloseTo(0.4209989 + 15.18344 + 16.50142, 6);
    expect(model.stepUs({ ...decoding(4, 9), kvUsage: 0.5 }) / 1000).toBeCloseTo(26.31, 6);
    expect(model.decodeLaw!(4)).toBeUndefined();
  });
});
