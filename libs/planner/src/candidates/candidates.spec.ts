import { describe, expect, it } from 'vitest';
import { candidateName, candidatesOf, type Settings } from './candidates';

function names(
  gpus: number,
  prefillTp: number[],
  decodeTp: number[],
  aggregatedTp: number[],
): string[] {
  const aggregated = aggregatedTp.map((tp) => ({ tp, stages: 1 }));
  return candidatesOf({ gpus, prefillTp, decodeTp, aggregated }).map(candidateName);
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
      aggregated: [{ tp: 8, stages: 1 }],
    })) {
      const { prefill, decode, aggregated } = c.topology;
      expect(prefill * c.prefillTp + (decode + aggregated) * c.decodeTp).toBe(16);
    }
  });

  it('take GPUs for every stage of aggregated engines, and name the stages', () => {
    const none = { prefillTp: [], decodeTp: [] };
    const aggregated = [2, 16].map((tp) => ({ tp, stages: 4 }));
    const staged = candidatesOf({ gpus: 16, ...none, aggregated });
    expect(staged.map(({ topology }) => topology.aggregated)).toEqual([2]);
    expect(staged.map(candidateName)).toEqual(['2A tp2 pp4']);
  });

  it('name their settings, those of a role with the role', () => {
    const [split] = candidatesOf({ gpus: 2, prefillTp: [1], decodeTp: [1], aggregated: [] });
    const settings: Settings = {
      prefillMaxNumBatchedTokens: 2_048,
      decodeMaxNumSeqs: 64,
      placement: 'prefix-aware',
      enablePrefixCaching: false,
      quantization: 'fp8',
    };
    expect(candidateName({ ...split!, settings })).toBe(
      '1P1D P:mbt2048 D:mns64 prefix-aware no-caching quantization=fp8',
    );
  });
});
