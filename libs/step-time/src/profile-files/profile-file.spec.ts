import { findGpu, findModel, HardwareError, servedIn } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { buildStepTimeModel } from '../build-step-time-model';
import { type StepTimeProfile } from '../profiles/step-time-profile';
import { kvTimingFromXpydProfile } from './xpyd-profile';
import { profileToFile, stepTimeFromProfile } from './profile-file';

const PROFILE: StepTimeProfile = {
  model: 'llama-3.1-8b',
  gpu: 'h100',
  tp: 2,
  linear: { tokens: [1, 256, 4096], ms: [4, 5, 60] },
  decodeAttentionMs: [0.3, 0.002, 4e-5],
  prefillAttentionMs: [0.4, 3e-7],
  overheadMs: 1.5,
  mixedDecodeFactor: 1.8,
  valid: { stepTokens: [1, 4096], prefillTokens: [16, 4096], decodeContextMax: 1e5 },
  prefillErrorPercent: { mean: 2.5, max: 9 },
};
const FILE = profileToFile(PROFILE);

describe('a profile file', () => {
  it('round-trips', () => {
    const read = stepTimeFromProfile(JSON.parse(JSON.stringify(FILE)));
    expect(read).toMatchObject({ kind: 'calibrated', profile: PROFILE });
  });

  it('serves only its model, GPU and degree', () => {
    const build = (tp: number) =>
      buildStepTimeModel(stepTimeFromProfile(FILE), {
        model: findModel('Meta-Llama-3.1-8B'),
        gpu: findGpu('h100-sxm'),
        tp,
      });
    expect(build(2).description).toBe(
      'calibrated llama-3.1-8b on h100 TP2, overhead 1.5 ms (mean fit error: prefill 2.5 %)',
    );
    expect(() => build(1)).toThrow(
      'The step-time profile was fitted for llama-3.1-8b on h100 TP2, not for llama-3.1-8b ' +
        'on h100 TP1.',
    );
  });

  it('serves only its formats', () => {
    const precision = 'fp8, KV cache bf16';
    const spec = stepTimeFromProfile(profileToFile({ ...PROFILE, precision }));
    const build = (quantization?: 'fp8') => {
      const gpu = findGpu('h100');
      const model = servedIn(findModel('llama-3.1-8b'), gpu, { quantization });
      return buildStepTimeModel(spec, { model, gpu, tp: 2 });
    };
    expect(build('fp8').method).toBe('calibrated');
    expect(() => build()).toThrow(
      'The step-time profile was fitted for fp8, KV cache bf16, not for bf16, KV cache bf16.',
    );
  });

  it('may omit its model and GPU', () => {
    const { model: _m, gpu: _g, tensor_parallel_size: _t, ...open } = FILE;
    const placement = { model: findModel('qwen3-8b'), gpu: findGpu('l40s'), tp: 1 };
    expect(buildStepTimeModel(stepTimeFromProfile(open), placement).description).toContain(
      'calibrated any model on any GPU',
    );
  });

  it("can be BLIS's coefficients, alone or in its defaults file", () => {
    const beta = [1, 2, 3, 4, 5, 6, 7];
    expect(stepTimeFromProfile({ beta_coeffs: beta })).toEqual({ kind: 'blis', beta });
    const coefficients = { alpha_coeffs: [1, 2, 3], beta_coeffs: beta };
    expect(stepTimeFromProfile({ trained_physics_coefficients: coefficients })).toEqual({
      kind: 'blis',
      beta,
    });
  });

  it('can be a profile of xPyD-sim, whose transfer becomes a line through its ends', () => {
    const transfer = { type: 'poly1d', coefficients: [1e-6, 0.002, 3], x_range: [100, 5000] };
    const profile = {
      prefill: { type: 'poly1d', coefficients: [0, 0.1, 2] },
      kv_transfer: transfer,
    };
    expect(stepTimeFromProfile(profile).kind).toBe('polynomial');
    const { latencyMs, perTokenMs } = kvTimingFromXpydProfile(profile)!;
    const parabola = (x: number) => 1e-6 * x * x + 0.002 * x + 3;
    for (const x of [100, 5000]) expect(latencyMs! + perTokenMs! * x).toBeCloseTo(parabola(x), 9);
    expect(kvTimingFromXpydProfile({ prefill: profile.prefill })).toBeUndefined();
  });

  it.each([
    ['a text', 'fast', 'it is not a mapping'],
    ['an unknown kind', { kind: 'magic' }, 'neither kind: calibrated or factors'],
    ['an unknown key', { ...FILE, lineer: 1 }, "an unknown key 'lineer'"],
    ['no line', { kind: 'calibrated' }, 'linear is not a mapping'],
    ['a falling line', { ...FILE, linear: { tokens: [2, 1], ms: [1, 2] } }, 'must rise'],
    ['a short line', { ...FILE, linear: { tokens: [1, 2], ms: [1] } }, 'as many ms as tokens'],
    ['a text for a number', { ...FILE, overhead_ms: '1' }, 'overhead_ms must be a number'],
    ['a wrong range', { ...FILE, valid: { decode_seqs: [1] } }, 'decode_seqs must be two numbers'],
    [
      'another framework',
      { kind: 'factors', factors: {}, framework: 'x' },
      'framework must be one',
    ],
    ['another fit', { prefill: { type: 'spline' } }, 'the type of prefill must be poly1d'],
  ])('refuses %s', (_, parsed, sentence) => {
    expect(() => stepTimeFromProfile(parsed)).toThrow(HardwareError);
    expect(() => stepTimeFromProfile(parsed)).toThrow(sentence);
  });
});
