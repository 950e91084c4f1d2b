import { describe, expect, it } from 'vitest';
import type { StepsOutside } from '../candidates/steps-outside';
import type { PlanResult } from '../candidates/split-result';
import {
  extrapolationLines,
  extrapolationSections,
  extrapolationsOf,
  planExtrapolations,
} from './extrapolations';

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

  it('of a plan are those of its splits, of its answers and of its assumptions', () => {
    const split = {
      topology: { prefill: 0, decode: 0, aggregated: 2 },
      ...{ prefillTp: 1, decodeTp: 1, gpus: 2, settings: {} },
    };
    const aggregated = { name: '2A', measured: { outside: decodeTo(932) } };
    const cases = planExtrapolations({
      splits: [aggregated, { name: '1P1D', measured: undefined }],
      answers: [{ rate: 4.77, smallest: [{ split, result: { outside: decodeTo(933) } }] }],
      contenders: { aggregated },
      sensitivity: [
        { assumption: { name: 'as configured' }, outside: { aggregated: decodeTo(932) } },
        { assumption: { name: 'prompts x2' }, outside: { aggregated: decodeTo(934) } },
      ],
    } as unknown as PlanResult);
    expect(cases.map(({ name, assumption, value }) => [name, assumption, value])).toEqual([
      ['2A', null, 932],
      ['2A at 4.77 requests/s', null, 933],
      ['2A', 'prompts x2', 934],
    ]);
  });

  it('are a table with every case, or nothing', () => {
    const cases = extrapolationsOf('1P1D', 'prompts x2', decodeTo(1_131));
    expect(extrapolationSections(cases)).toMatchObject([
      { rows: [['1P1D', 'prompts x2', 'decode', '12', WHAT, '1,131', '0 to 931']] },
    ]);
    expect(extrapolationSections([])).toEqual([]);
  });
});
