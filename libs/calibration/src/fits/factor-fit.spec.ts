import type { StepTimeModel } from '@baton/step-time';
import { describe, expect, it } from 'vitest';
import { fitFactors } from './factor-fit';
import { decodeStep, type MeasuredStep, prefillStep } from './measured-step';

const BASE: StepTimeModel = {
  description: 'a test',
  stepUs: ({ prefillTokens, decodeSeqs, decodeContext }) =>
    (prefillTokens + decodeSeqs > 0 ? 2_000 : 0) + 20 * prefillTokens + 0.2 * decodeContext,
};

/**
 * Times of the base in ms, times the factor, plus half a millisecond. `noise` alternates in sign.
 */
function measured(prefill: number, decode: number, noise = 0): MeasuredStep[] {
  const shaky = (ms: number, i: number): number => ms * (1 + (i % 2 === 0 ? noise : -noise));
  const prompts = [64, 256, 1_024, 2_048, 4_096].map((tokens, i) =>
    prefillStep({ tokens, ms: shaky(prefill * (2 + 0.02 * tokens) + 0.5, i) }),
  );
  const decodes = [1, 4, 16, 32, 64, 128].map((seqs, i) =>
    decodeStep(seqs, 1_000 * seqs, shaky(decode * (2 + 0.2 * seqs) + 0.5, i)),
  );
  return [...prompts, ...decodes];
}

describe('factors on a model', () => {
  it('are recovered, with a standard error of 0 without noise', () => {
    const { prefill, decode, constantMs } = fitFactors(measured(1.2, 0.9), BASE);
    expect(prefill.value).toBeCloseTo(1.2, 4);
    expect(decode.value).toBeCloseTo(0.9, 4);
    expect(constantMs.value).toBeCloseTo(0.5, 3);
    expect(prefill.standardError).toBeLessThan(1e-3);
  });

  it('have a standard error that follows the scatter of the points', () => {
    const [calm, wild] = [0.01, 0.05].map((noise) => fitFactors(measured(1.2, 0.9, noise), BASE));
    expect(Math.abs(calm!.decode.value - 0.9)).toBeLessThan(3 * calm!.decode.standardError!);
    expect(wild!.decode.standardError!).toBeGreaterThan(2 * calm!.decode.standardError!);
  });

  it('stay 1 without points of their phase', () => {
    const steps = measured(1.2, 0.9).filter(({ decodeSeqs }) => decodeSeqs > 0);
    const { prefill, decode } = fitFactors(steps, BASE);
    expect(prefill).toEqual({ value: 1, standardError: null });
    expect(decode.value).toBeCloseTo(0.9, 4);
  });

  it('are robust against one pause', () => {
    const steps = measured(1.2, 0.9, 0.01);
    const paused = steps.map((step, i) => (i === 7 ? { ...step, ms: 5 * step.ms } : step));
    expect(fitFactors(paused, BASE).prefill.value).toBeCloseTo(1.2, 1);
  });
});
