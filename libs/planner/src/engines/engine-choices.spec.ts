import { defaultConfig } from '@baton/config';
import { describe, expect, it } from 'vitest';
import { EngineChoices, sizesOf } from './engine-choices';

const NONE = { tp: undefined, prefillTp: undefined, decodeTp: undefined };
const LARGE = defaultConfig({ model: 'llama-3.1-70b' });
const ALL = { prefill: [1, 2, 8], decode: [2, 4], aggregated: [1, 4] };

describe('sizes to choose from', () => {
  it('are all common ones by default', () => {
    expect(sizesOf(NONE, defaultConfig(), () => false)).toEqual({
      prefill: [1, 2, 4, 8],
      decode: [1, 2, 4, 8],
      aggregated: [1, 2, 4, 8],
    });
  });

  it('are those of the role before those of all, and aggregated engines have both', () => {
    const config = defaultConfig({ tensorParallelSize: 4, decodeTensorParallelSize: 8 });
    expect(sizesOf(NONE, config, () => true)).toEqual({
      prefill: [4],
      decode: [8],
      aggregated: [4],
    });
    expect(
      sizesOf({ ...NONE, prefillTp: [4], decodeTp: [2, 4] }, config, () => false),
    ).toMatchObject({ prefill: [4], decode: [2, 4], aggregated: [2, 4] });
  });

  it('by flag replace those of the configuration', () => {
    const config = defaultConfig({ tensorParallelSize: 4 });
    expect(sizesOf({ ...NONE, tp: [1, 2] }, config, () => true)).toMatchObject({
      prefill: [1, 2],
      aggregated: [1, 2],
    });
  });
});

describe('engine choices', () => {
  it('leave out sizes at which the model does not fit, with one note', () => {
    const engines = new EngineChoices(LARGE, ALL, 16, () => true);
    expect(engines.choices).toEqual({
      gpus: 16,
      prefillTp: [2, 8],
      decodeTp: [2, 4],
      aggregated: [{ tp: 4, stages: 1 }],
    });
    expect(engines.notes).toEqual([
      expect.stringMatching(/^Left out prefill tp1, aggregated tp1: llama-3.1-70b needs /),
    ]);
  });

  it('leave out sizes above the number of GPUs', () => {
    const engines = new EngineChoices(LARGE, ALL, 4, () => true);
    expect(engines.choices.prefillTp).toEqual([2]);
    expect(engines.gpuCounts).toEqual([2, 4]);
    expect(() => new EngineChoices(LARGE, { ...ALL, aggregated: [8] }, 1, () => true)).toThrow(
      /needs/,
    );
    const eight = { prefill: [8], decode: [8], aggregated: [8] };
    expect(() => new EngineChoices(LARGE, eight, 4, () => true)).toThrow('need more than 4 GPUs');
  });

  it('give the engine of each role at its size', () => {
    const engines = new EngineChoices(LARGE, ALL, 16, () => true);
    const topology = { prefill: 1, decode: 2, aggregated: 0 };
    const of = engines.enginesOf({ topology, prefillTp: 8, decodeTp: 4, gpus: 16, settings: {} });
    expect(of('prefill').stepTime.description).toContain('TP8');
    expect(of('decode').stepTime.description).toContain('TP4');
    expect(engines.stepTimes['decode tp4']).toBe(of('decode').stepTime.description);
  });

  it('are only aggregated with pipeline stages, each on its share of the GPUs', () => {
    const staged = { ...LARGE, pipelineParallelSize: 2 };
    const sizes = { prefill: [2], decode: [2], aggregated: [2, 8] };
    const engines = new EngineChoices(staged, sizes, 8, () => true);
    expect(engines.choices).toEqual({
      gpus: 8,
      prefillTp: [],
      decodeTp: [],
      aggregated: [{ tp: 2, stages: 2 }],
    });
    expect(engines.notes.join(' ')).toContain('is not possible for prefill engines');
  });

  it('try pipeline stages of aggregated engines unless their number is set', () => {
    const sizes = { prefill: [4], decode: [4], aggregated: [2, 8] };
    const { choices, notes } = new EngineChoices(LARGE, sizes, 8, () => false);
    expect(choices.aggregated).toEqual([
      { tp: 2, stages: 1 },
      { tp: 2, stages: 2 },
      { tp: 2, stages: 4 },
      { tp: 8, stages: 1 },
    ]);
    expect([choices.prefillTp, choices.decodeTp, notes]).toEqual([[4], [4], []]);
  });

  it('pass on errors that no size avoids', () => {
    const unknown = defaultConfig({ model: 'no-such-model' });
    expect(() => new EngineChoices(unknown, ALL, 16, () => true)).toThrow(/no-such-model/);
  });
});
