import { describe, expect, it } from 'vitest';
import { candidatesOf, candidateName } from './candidates';

function names(
  gpus: number,
  prefillTp: number[],
  decodeTp: number[],
  aggregatedTp: number[],
): string[] {
  return candidatesOf({ gpus, prefillTp, decodeTp, aggregatedTp }).map(candidateName);
}

describe('candidates', () => {
  it('are all splits of the GPUs, then aggregated engines', () => {
    expect(names(4, [1], [1], [1])).toEqual(['1P3D', '2P2D', '3P1D', '4A']);
  });

  it('mix tensor-parallel sizes as long as every GPU is used', () => {
    expect(names(4, [1, 2], [2], [1, 2])).toEqual(['2P1D tp1/tp2', '1P1D tp2/tp2', '4A', '2A tp2']);
  });

  it('are none when nothing fits', () => {
    expect(names(3, [2], [2], [2])).toEqual([]);
  });

  it('use every GPU', () => {
    for (const c of candidatesOf({
      gpus: 16,
      prefillTp: [1, 2, 4],
      decodeTp: [1, 4, 8],
      aggregatedTp: [8],
    })) {
      const { prefill, decode, aggregated } = c.topology;
      expect(prefill * c.prefillTp + (decode + aggregated) * c.decodeTp).toBe(16);
    }
  });

  it('take GPUs for every stage of aggregated engines, and name the stages', () => {
    const none = { prefillTp: [], decodeTp: [] };
    const staged = candidatesOf({ gpus: 16, ...none, aggregatedTp: [2, 16], aggregatedStages: 4 });
    expect(staged.map(({ topology }) => topology.aggregated)).toEqual([2]);
    expect(staged.map(candidateName)).toEqual(['2A tp2 pp4']);
  });
});
