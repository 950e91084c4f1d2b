import { describe, expect, it } from 'vitest';
import type { BatchAggregates, StepTimeModel } from '../port/step-time-model';
import { FactoredStepTime } from './factors';

const EMPTY: BatchAggregates = {
  prefillTokens: 0,
  prefillSeqs: 0,
  prefillQuadratic: 0,
  prefillContext: 0,
  decodeSeqs: 0,
  decodeContext: 0,
  kvUsage: 0,
};
const PROMPT = { prefillTokens: 100, prefillSeqs: 1, prefillQuadratic: 10_000 };
const DECODE = { decodeSeqs: 3, decodeContext: 700 };

/** A prompt token takes 10 µs, a sequence 200 µs, a token of context 0.1 µs. */
const BASE: StepTimeModel & Required<Pick<StepTimeModel, 'decodeLaw'>> = {
  description: 'composed of what a test says',
  stepUs: ({ prefillTokens, decodeSeqs, decodeContext }) =>
    10 * prefillTokens + 200 * decodeSeqs + 0.1 * decodeContext,
  decodeLaw: (seqs) => ({ baseUs: 200 * seqs, perContextUs: 0.1, contextLimit: Infinity }),
  outsideRange: ({ decodeContext }) =>
    decodeContext > 1e6 ? { what: 'context', value: decodeContext, range: [0, 1e6] } : undefined,
};
const FACTORS = { prefill: 2, decode: 1.1, constantMs: 0.5, valid: {} };
const model = new FactoredStepTime(BASE, FACTORS);

describe('factors over composed step times', () => {
  it('multiply decode and the rest separately, and add the constant once', () => {
    expect(model.stepUs({ ...EMPTY, ...PROMPT })).toBeCloseTo(2 * 1_000 + 500);
    expect(model.stepUs({ ...EMPTY, ...DECODE })).toBeCloseTo(1.1 * 670 + 500);
    const mixed = model.stepUs({ ...EMPTY, ...PROMPT, ...DECODE });
    expect(mixed).toBeCloseTo(2 * 1_000 + 1.1 * 670 + 500);
  });

  it('keep steps and laws equal to the last bit', () => {
    for (const decodeContext of [1, 333, 12_345, 999_999]) {
      const law = model.decodeLaw(7, decodeContext)!;
      const us = model.stepUs({ ...EMPTY, decodeSeqs: 7, decodeContext });
      expect(us).toBe(law.baseUs + law.perContextUs * decodeContext);
    }
  });

  it('are outside of the range where they or the operators were not measured', () => {
    const own = new FactoredStepTime(BASE, { ...FACTORS, valid: { decodeSeqs: [1, 2] } });
    expect(own.outsideRange({ ...EMPTY, ...DECODE })).toMatchObject({ value: 3 });
    const far = { ...EMPTY, decodeSeqs: 2, decodeContext: 2e6 };
    expect(own.outsideRange(far)).toMatchObject({ what: 'context' });
    expect(own.outsideRange({ ...EMPTY, decodeSeqs: 2, decodeContext: 9 })).toBeUndefined();
  });
});
