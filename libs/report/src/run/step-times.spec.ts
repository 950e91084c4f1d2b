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

describe('the line of step times', () => {
  it('is shared by roles with the same steps', () => {
    expect(stepTimesLines([COMPOSED, { ...COMPOSED, role: 'decode' }])).toEqual([
      'composed from x',
    ]);
  });

  it('says how far steps left the measured range, and which have an unmeasured shape', () => {
    const far = { ...COMPOSED, steps_outside_range: 5, farthest_outside: 1.5 };
    expect(stepTimesLines([far])).toEqual([
      'composed from x; 5 steps outside of the measured range, up to 1.5 times the measured ' +
        'maximum',
    ]);
    expect(stepTimesLines([{ ...far, steps_of_unmeasured_shape: 5 }])).toEqual([
      'composed from x; 5 steps of a shape that was not measured',
    ]);
    expect(stepTimesLines([{ ...far, steps_of_unmeasured_shape: 2 }])[0]).toMatch(
      /; 3 steps outside of the measured range, .*; 2 steps of a shape that was not measured$/,
    );
  });
});

describe('the table of step times', () => {
  it('has the number of steps outside of the measured range, and their distance', () => {
    const one = { ...COMPOSED, steps_outside_range: 5, farthest_outside: 1.5 };
    const [section] = stepTimesSections({ step_times: [one] });
    expect(section).toMatchObject({
      rows: [['prefill', 'composed', 'composed from x', 5, 0, 1.5]],
    });
    expect(stepTimesSections({})).toEqual([]);
  });
});
