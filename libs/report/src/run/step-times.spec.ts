import type { StepTimesSummary } from '@baton/analysis';
import { describe, expect, it } from 'vitest';
import { stepTimesLines, stepTimesSections } from './step-times';

const COMPOSED: StepTimesSummary = {
  role: 'prefill',
  method: 'composed',
  description: 'composed from x',
  steps_outside_range: 0,
  steps_of_unmeasured_shape: 0,
  farthest_outside: null,
};

const FAR: StepTimesSummary = {
  ...COMPOSED,
  steps_outside_range: 5,
  farthest_outside: 1.5,
  farthest_step: { what: 'prompt tokens per step', value: 12_288, measured: [16, 8_192] },
};

describe('the line of step times', () => {
  it('is shared by roles with the same steps', () => {
    expect(stepTimesLines([COMPOSED, { ...COMPOSED, role: 'decode' }])).toEqual([
      'composed from x',
    ]);
  });

  it('says how far steps left the measured range, and which have an unmeasured shape', () => {
    const far = { ...COMPOSED, steps_outside_range: 5, farthest_outside: 1.5 };
    expect(stepTimesLines([far])).toEqual([
      'composed from x; 5 steps of prefill engines outside of the measured range, up to 1.5 times ' +
        'the measured maximum',
    ]);
    expect(stepTimesLines([{ ...far, steps_of_unmeasured_shape: 5 }])).toEqual([
      'composed from x; 5 steps of prefill engines have a shape that was not measured',
    ]);
    expect(stepTimesLines([{ ...far, steps_of_unmeasured_shape: 2 }])[0]).toMatch(
      /; 3 steps of prefill engines outside .*; 2 steps of prefill engines have a shape that/,
    );
  });

  it('names the quantity that lay farthest outside, with its value and the range', () => {
    expect(stepTimesLines([FAR])).toEqual([
      'composed from x; 5 steps of prefill engines outside of the measured range, up to 1.5 times ' +
        'the measured maximum (prompt tokens per step: 12,288, measured: 16 to 8,192)',
    ]);
  });
});

describe('the table of step times', () => {
  it('has the number of steps outside of the measured range, and their distance', () => {
    const [section] = stepTimesSections({ step_times: [FAR, COMPOSED] });
    const what = 'prompt tokens per step: 12,288, measured: 16 to 8,192';
    expect(section).toMatchObject({
      rows: [
        ['prefill', 'composed', 'composed from x', 5, 0, 1.5, what],
        ['prefill', 'composed', 'composed from x', 0, 0, null, null],
      ],
    });
    expect(stepTimesSections({})).toEqual([]);
  });
});
