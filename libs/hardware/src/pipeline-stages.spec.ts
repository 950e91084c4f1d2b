import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findGpu,
  findModel,
  kvCapacityBlocks,
  pipelinePartition,
  routedParameters,
  sharedLayerParameters,
  stagesOf,
} from '.';
import { weightBytesPerGpu } from './memory/weights-per-gpu';

const place = (model: string, pp: number, tp = 1) => ({
  model: findModel(model),
  gpu: findGpu('h100'),
  tp,
  pp,
});

describe('pipelinePartition', () => {
  // The cases of vLLM's tests/distributed/test_pipeline_partition.py, and some larger ones.
  it.each([
    [2, 2, [1, 1]],
    [3, 2, [2, 1]],
    [3, 3, [1, 1, 1]],
    [4, 3, [1, 2, 1]],
    [5, 3, [2, 2, 1]],
    [80, 4, [20, 20, 20, 20]],
    [61, 4, [15, 15, 16, 15]],
    [62, 4, [15, 16, 16, 15]],
    [63, 4, [16, 16, 16, 15]],
    [7, 1, [7]],
  ])('spreads %i layers over %i stages as %j', (layers, stages, parts) => {
    expect(pipelinePartition(layers, stages)).toEqual(parts);
  });

  it('assigns every layer once, with sizes that differ by at most one, the fewest to the last', () => {
    const counts = fc
      .tuple(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 0, max: 200 }))
      .map(([stages, more]) => [stages + more, stages] as const);
    fc.assert(
      fc.property(counts, ([layers, stages]) => {
        const parts = pipelinePartition(layers, stages);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(layers);
        expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
        expect(parts.at(-1)).toBe(Math.min(...parts));
      }),
    );
  });
});

describe('the stages of an engine', () => {
  const MODELS = ['llama-3.1-70b', 'deepseek-v3', 'gpt-oss-120b', 'qwen3-30b-a3b'];

  it.each(MODELS)('hold all parameters of %s together', (model) => {
    for (const pp of [2, 3, 4]) {
      const stages = stagesOf(place(model, pp)).map((stage) => stage.model);
      const sum = (of: typeof routedParameters) =>
        stages.reduce((total, stage) => total + of(stage), 0);
      expect(sum(routedParameters)).toBe(routedParameters(findModel(model)));
      expect(sum(sharedLayerParameters)).toBe(sharedLayerParameters(findModel(model)));
      const windows = stages.map(({ attention }) =>
        attention.kind === 'grouped' ? (attention.slidingWindow?.layers ?? 0) : 0,
      );
      const { attention } = findModel(model);
      const whole = attention.kind === 'grouped' ? (attention.slidingWindow?.layers ?? 0) : 0;
      expect(windows.reduce((total, layers) => total + layers, 0)).toBe(whole);
    }
  });

  it('are the engine itself when it has one', () => {
    const engine = place('llama-3.1-8b', 1);
    expect(stagesOf(engine)).toEqual([engine]);
  });

  it('have the embedding on the first and the head on the last, also where they are one', () => {
    const bytes = (model: string) =>
      stagesOf(place(model, 4)).map((stage) => weightBytesPerGpu(stage));
    const [first, second, third, last] = bytes('llama-3.1-70b');
    const { vocabulary, hidden } = findModel('llama-3.1-70b');
    expect(first! - second!).toBe(2 * vocabulary * hidden);
    expect(third).toBe(second);
    expect(last).toBe(first);
    const tied = bytes('gemma-2-9b');
    expect(tied[3]! - tied[1]!).toBeGreaterThan(0);
  });

  it('are no more than layers', () => {
    expect(() => stagesOf(place('llama-3.1-8b', 33))).toThrow(
      'llama-3.1-8b has 32 layers, which cannot be spread over 33 pipeline stages: ' +
        'pipeline_parallel_size can be 32 at most.',
    );
  });
});

describe('the KV blocks of an engine with stages', () => {
  const query = (pp: number, model = 'llama-3.1-70b', tp = 1) => ({
    ...place(model, pp, tp),
    gpuMemoryUtilization: 0.9,
    blockSize: 16,
    maxNumSeqs: 256,
    maxNumBatchedTokens: 8192,
  });

  it('are those of the stage with room for the fewest', () => {
    const alone = stagesOf(query(4)).map(({ model }) => kvCapacityBlocks({ ...query(4), model }));
    expect(kvCapacityBlocks(query(4))).toBe(Math.min(...alone));
    expect(new Set(alone).size).toBeGreaterThan(1);
  });

  it('let a model fit that one GPU cannot hold, and name the weights of the fullest', () => {
    expect(() => kvCapacityBlocks(query(1))).toThrow('each of 1 h100');
    expect(kvCapacityBlocks(query(4))).toBeGreaterThan(0);
    expect(() => kvCapacityBlocks(query(2, 'llama-3.1-405b'))).toThrow(/each of 2 h100/);
  });
});
