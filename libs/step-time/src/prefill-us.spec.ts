import { describe, expect, it } from 'vitest';
import type { StepTimeModel } from './port/step-time-model';
import { prefillUs } from './prefill-us';

describe('prefillUs', () => {
  it('adds up the steps of the chunks, each behind those before it', () => {
    const steps: number[][] = [];
    const model: StepTimeModel = {
      description: 'notes what it is asked',
      stepUs: (batch) => {
        steps.push([batch.prefillContext, batch.prefillTokens, batch.prefillQuadratic]);
        return 10;
      },
    };
    expect(prefillUs(model, { tokens: 250, cached: 64 }, 100)).toBe(30);
    expect(steps).toEqual([
      [64, 100, 164 ** 2 - 64 ** 2],
      [164, 100, 264 ** 2 - 164 ** 2],
      [264, 50, 314 ** 2 - 264 ** 2],
    ]);
  });
});
