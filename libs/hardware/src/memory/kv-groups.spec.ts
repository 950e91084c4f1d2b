import { describe, expect, it } from 'vitest';
import {
  findGpu,
  findModel,
  kvBytesPerBlock,
  kvBytesPerToken,
  kvCapacityBlocks,
  kvGroupsOf,
  layersPerBlock,
  servedIn,
} from '..';

const H100 = findGpu('h100');
const whole = (name: string) =>
  servedIn(findModel(name), H100, { disableHybridKvCacheManager: true });

describe('kvGroupsOf', () => {
  it.each([
    ['gpt-oss-20b', { full: 1, windowed: 1, windowTokens: 128 }, 12],
    ['gpt-oss-120b', { full: 1, windowed: 1, windowTokens: 128 }, 18],
    ['gemma-2-9b', { full: 1, windowed: 1, windowTokens: 4096 }, 21],
    // 34 tensors of 34 layers become 5 (vllm-project/vllm#23079): 5 full layers, 29 others in 6.
    ['gemma-3-4b', { full: 1, windowed: 6, windowTokens: 1024 }, 5],
    ['gemma-3-12b', { full: 1, windowed: 5, windowTokens: 1024 }, 8],
    ['gemma-3-27b', { full: 1, windowed: 6, windowTokens: 1024 }, 10],
    ['llama-4-scout', { full: 1, windowed: 3, windowTokens: 8192 }, 12],
  ])('of %s are the same as in vLLM', (name, groups, layers) => {
    const model = findModel(name);
    expect(kvGroupsOf(model)).toMatchObject(groups);
    expect(kvGroupsOf(model)?.isChunked).toBe(name.startsWith('llama-4'));
    expect(layersPerBlock(model)).toBe(layers);
  });

  it('are padded to the larger kind when both are nearly equal', () => {
    const model = findModel('gpt-oss-20b');
    const { attention } = model;
    if (attention.kind === 'latent') throw new Error('gpt-oss has grouped attention');
    const slidingWindow = { tokens: 128, layers: 11 };
    const drafted = { ...model, attention: { ...attention, slidingWindow } };
    expect(kvGroupsOf(drafted)).toMatchObject({ full: 1, windowed: 1 });
    expect(layersPerBlock(drafted)).toBe(13);
  });

  it.each(['llama-3.1-8b', 'deepseek-v3', 'qwen3-32b'])('are none for %s', (name) => {
    expect(kvGroupsOf(findModel(name))).toBeUndefined();
    expect(layersPerBlock(findModel(name))).toBe(findModel(name).layers);
  });
});

describe('without the hybrid KV cache manager', () => {
  it.each(['gpt-oss-20b', 'gemma-3-27b'])('all layers of %s keep all KV', (name) => {
    const model = findModel(name);
    expect(kvGroupsOf(whole(name))).toBeUndefined();
    const perLayer = kvBytesPerBlock(model, 1, 16) / layersPerBlock(model);
    expect(kvBytesPerBlock(whole(name), 1, 16)).toBe(perLayer * model.layers);
    expect(kvBytesPerToken(whole(name)) * 16).toBe(perLayer * model.layers);
  });

  it('a GPU has fewer blocks in proportion to the layers of a block', () => {
    const query = { gpu: H100, tp: 1, gpuMemoryUtilization: 0.9, blockSize: 16 };
    const grouped = kvCapacityBlocks({ ...query, model: findModel('gpt-oss-20b') });
    const ungrouped = kvCapacityBlocks({ ...query, model: whole('gpt-oss-20b') });
    expect(ungrouped).toBe(Math.floor(grouped / 2));
  });
});
