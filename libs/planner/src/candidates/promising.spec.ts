import { describe, expect, it } from 'vitest';
import { candidateName } from './candidates';
import { type Estimated, promising } from './promising';

function estimated(topology: string, estimatedRate: number): Estimated {
  const [prefill = 0, decode = 0, aggregated = 0] = topology.split(' ').map(Number);
  const engines = { prefill, decode, aggregated };
  return {
    candidate: { topology: engines, prefillTp: 1, decodeTp: 1, gpus: 4, settings: {} },
    estimatedRate,
  };
}

const ALL = [
  estimated('1 3 0', 2),
  estimated('2 2 0', 10),
  estimated('3 1 0', 5),
  estimated('0 0 4', 1),
];

function names(share: number, most: number, all = ALL): string[] {
  return promising(all, { share, most }).map(({ candidate }) => candidateName(candidate));
}

describe('the promising candidates', () => {
  it('are close to the best estimate, or aggregated, in the given order', () => {
    expect(names(0.5, 9)).toEqual(['2P2D', '3P1D', '4A']);
    expect(names(0.1, 9)).toEqual(['1P3D', '2P2D', '3P1D', '4A']);
  });

  it('are at most the given number, besides the aggregated ones', () => {
    expect(names(0.1, 1)).toEqual(['2P2D', '4A']);
  });

  it('exclude candidates that cannot serve a single sequence', () => {
    expect(names(0.5, 9, [estimated('1 3 0', 0), estimated('0 0 4', 0)])).toEqual([]);
  });
});
