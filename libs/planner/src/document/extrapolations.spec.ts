import { describe, expect, it } from 'vitest';
import type { StepsOutside } from '../candidates/steps-outside';
import { extrapolationLines, extrapolationSections, extrapolationsOf } from './extrapolations';

const WHAT = 'context tokens per decoding sequence';

function decodeTo(value: number, steps = 12): StepsOutside[] {
  return [{ role: 'decode', steps, farthest: { what: WHAT, value, measured: [0, 931] } }];
}

describe('the extrapolations of a search', () => {
  it('name case, engines, value and range, one sentence for each limit', () => {
    const chunk = { what: 'prompt tokens per step', value: 14_050, measured: [16, 8_192] } as const;
    expect(
      extrapolationLines([
        ...extrapolationsOf('1P1D', 'prompts x2', decodeTo(1_131)),
        ...extrapolationsOf('1P1D', 'outputs x2', decodeTo(1_400)),
        ...extrapolationsOf('2A', null, [{ role: 'aggregated', steps: 1, farthest: chunk }]),
        ...extrapolationsOf('3A', null),
      ]),
    ).toEqual([
      `Extrapolated: ${WHAT} up to 1,400 (measured: 0 to 931) in 12 steps of the decode engines ` +
        'of 1P1D if outputs x2, and in 1 other case.',
      'Extrapolated: prompt tokens per step up to 14,050 (measured: 16 to 8,192) in 1 step of the ' +
        'aggregated engines of 2A.',
    ]);
  });

  it('name a case as configured before one under an assumption', () => {
    const [line] = extrapolationLines([
      ...extrapolationsOf('1P1D', 'prompts x2', decodeTo(2_000)),
      ...extrapolationsOf('2P2D', null, decodeTo(950)),
    ]);
    expect(line).toContain(
      'up to 950 (measured: 0 to 931) in 12 steps of the decode engines of 2P2D,',
    );
  });

  it('are a table with every case, or nothing', () => {
    const cases = extrapolationsOf('1P1D', 'prompts x2', decodeTo(1_131));
    expect(extrapolationSections(cases)).toMatchObject([
      { rows: [['1P1D', 'prompts x2', 'decode', '12', WHAT, '1,131', '0 to 931']] },
    ]);
    expect(extrapolationSections([])).toEqual([]);
  });
});
