import { defaultConfig, UsageError } from '@baton/config';
import { describe, expect, it } from 'vitest';
import { candidateName, candidatesOf } from '../candidates/candidates';
import { splitNamed } from './named-split';

const inputs = {
  candidates: candidatesOf({
    gpus: 8,
    prefillTp: [1, 2],
    decodeTp: [1, 2],
    aggregated: [
      { tp: 1, stages: 1 },
      { tp: 2, stages: 2 },
    ],
  }),
  config: defaultConfig(),
  vary: [{ key: 'quantization' as const, values: ['none', 'fp8'] }],
};

describe('a split by its name', () => {
  it.each([
    '4P4D',
    '2P2D tp2/tp2',
    '2A tp2 pp2 mbt2048',
    '4P4D P:mbt2048 P:mns16 D:mns64 lpt256 least-tokens',
    '8A mbt1024 no-caching quantization=fp8',
  ])('is the one of the table: %s', (name) => {
    expect(candidateName(splitNamed(name, inputs))).toBe(name);
  });

  it('needs no sizes where only one split has these engines', () => {
    expect(candidateName(splitNamed('1P6D', inputs))).toBe('1P6D tp2/tp1');
    expect(candidateName(splitNamed('1P6D D:mns64', inputs))).toBe('1P6D tp2/tp1 D:mns64');
    expect(() => splitNamed('3P2D', inputs)).not.toThrow();
    expect(() => splitNamed('1P6D tp1/tp1', inputs)).toThrow('is no split of 8 GPUs');
  });

  it('has its settings in any order', () => {
    const { settings } = splitNamed('4P4D lpt256 D:mns64 P:mbt2048', inputs);
    expect(Object.entries(settings)).toEqual([
      ['prefillMaxNumBatchedTokens', 2_048],
      ['decodeMaxNumSeqs', 64],
      ['longPrefillTokenThreshold', 256],
    ]);
  });

  it.each([
    ['4P5D', "'4P5D' is no split of 8 GPUs, such as"],
    ['', 'is no split of 8 GPUs'],
    ['4P4D mbt2048', "'mbt2048' is no setting of 4P4D, as P:mbt2048"],
    ['8A P:mbt2048', "'P:mbt2048' is no setting of 8A, as mbt1024"],
    ['8A fast', "'fast' is no setting of 8A"],
    ['8A mbt16 mns64', "--explain '8A mbt16 mns64': "],
  ])('is refused with one sentence: %s', (name, sentence) => {
    const named = (): unknown => splitNamed(name, inputs);
    expect(named).toThrow(UsageError);
    expect(named).toThrow(sentence);
  });
});
