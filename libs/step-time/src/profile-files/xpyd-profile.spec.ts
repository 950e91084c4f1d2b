import { findGpu, findModel, HardwareError } from '@baton/hardware';
import { buildStepTimeModel } from '../build-step-time-model';
import { describe, expect, it } from 'vitest';
import { decoding, prompts } from '../../test/test-batches';
import { polynomialFromXpydProfile } from './xpyd-profile';

const PLACEMENT = { model: findModel('llama-3.1-8b'), gpu: findGpu('h100'), tp: 1 };

describe('a profile of xPyD-sim', () => {
  it('reads the output of xPyD-sim’s calibrate', () => {
    const spec = polynomialFromXpydProfile({
      prefill: { type: 'poly1d', coefficients: [1e-6, 0.02, 5], x_range: [1, 100] },
      decode: {
        type: 'poly2d',
        coefficients: [5, 0.1, 0.001, 1e-5, 0.002, 1e-7],
        bs_range: [1, 8],
        ctx_range: [1, 500],
      },
    });
    const model = buildStepTimeModel(spec, PLACEMENT);
    expect(model.stepUs(prompts(1, 100)) / 1000).toBeCloseTo(0.01 + 2 + 5, 9);
    const expected = 5 + 0.4 + 0.2 + 1e-5 * 800 + 0.002 * 16 + 1e-7 * 40_000;
    expect(model.stepUs(decoding(4, 200)) / 1000).toBeCloseTo(expected, 9);
    expect(model.decodeLaw!(4)).toBeUndefined();
    expect(model.outsideRange!(prompts(1, 100))).toBeUndefined();
    expect(model.outsideRange!(prompts(1, 101))).toBeDefined();
    expect(model.outsideRange!(decoding(9, 10))).toBeDefined();
    expect(model.outsideRange!(decoding(8, 501))).toBeDefined();
  });

  it.each([
    ['a text', 'nonsense'],
    ['an empty mapping', {}],
    ['too few coefficients', { prefill: { coefficients: [1, 2] } }],
    ['a coefficient that is not a number', { decode: { coefficients: [1, 2, 3, 4, 5, 'x'] } }],
    ['a wrong range', { prefill: { coefficients: [1, 2, 3], x_range: [1] } }],
  ])('refuses %s as a profile', (_, profile) => {
    expect(() => polynomialFromXpydProfile(profile)).toThrow(HardwareError);
  });
});
