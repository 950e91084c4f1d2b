import { RangeGuard, type StepTimeModel } from '@baton/step-time';
import { describe, expect, it } from 'vitest';
import { POOL, SCENARIO } from '../../test/one-engine';
import { performTask, TOLERANCE } from './plan-task';

/** Measured to one decoding sequence. */
const MODEL: StepTimeModel = {
  description: 'a line',
  stepUs: (batch) => 1_000 + 500 * batch.prefillTokens + 10 * batch.decodeSeqs,
  outsideRange: ({ decodeSeqs }) => {
    const range = [1, 1] as const;
    return decodeSeqs > 1 ? { what: 'decoding sequences', value: decodeSeqs, range } : undefined;
  },
};
const WARNINGS: unknown[] = [];

const STEP_TIME = new RangeGuard(MODEL, { refuse: false, report: (one) => WARNINGS.push(one) });
const GUARDED = { ...POOL, options: { ...POOL.options, stepTime: STEP_TIME } };
const OPTIONS = { target: { slo: { ttft: 200_000 }, attainment: 0.9 }, seed: 0 };

function perform(kind: 'search' | 'measure', rate: number) {
  return performTask(
    { ...SCENARIO, pools: [GUARDED] },
    { kind, rate, tolerance: TOLERANCE },
    OPTIONS,
  );
}

describe('the steps outside of the measured range of a task', () => {
  it('are those of the run at its rate, not of trials at other rates', () => {
    const found = perform('search', 10);
    expect(found.outside).toMatchObject([
      { role: 'aggregated', farthest: { what: 'decoding sequences', measured: [1, 1] } },
    ]);
    expect(found.outside).toEqual(perform('measure', found.rate).outside);
    expect(found.outside).not.toEqual(perform('measure', found.rate / 4).outside);
  });

  it('are unset when every step lay inside', () => {
    expect(perform('measure', 0.5)).not.toHaveProperty('outside');
  });

  it('give no warning of their own', () => {
    perform('measure', 20);
    expect(WARNINGS).toEqual([]);
  });
});
