import type { StepTimeModel } from '@baton/step-time';
import { describe, expect, it } from 'vitest';
import { qualityOf } from './fit-quality';
import { prefillStep } from './measured-step';

const TEN_MS: StepTimeModel = { description: '10 ms for any batch', stepUs: () => 10_000 };

describe('R²', () => {
  it.each([
    ['1 for equal values that the model meets but for rounding', [10, 10 + 1e-9, 10 - 1e-9], 1],
    ['0 for equal values that the model misses', [11, 11 + 1e-9, 11], 0],
    ['0 for a model that is no better than the mean', [9, 11, 10], 0],
    ['below 0 for a worse one', [12, 12, 14, 14], -9],
  ])('is %s', (_name, times, r2) => {
    const steps = times.map((ms, i) => prefillStep({ tokens: 16 * (i + 1), ms }));
    expect(qualityOf(TEN_MS, steps)[0]?.r2).toBeCloseTo(r2, 9);
  });
});
