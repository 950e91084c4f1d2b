import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findGpu, findModel, HardwareError, kvBytesPerToken, kvCapacityBlocks } from './';

interface Published {
  readonly gpu: string;
  readonly model: string;
  readonly tp: number;
  readonly kv_bytes_per_token: number;
  readonly kv_capacity_tokens: number;
}

const published = JSON.parse(
  readFileSync(new URL('../../../data/profiles/unified_model.json', import.meta.url), 'utf8'),
) as Published[];

const query = (model: string, gpu: string, tp: number) => ({
  model: findModel(model),
  gpu: findGpu(gpu),
  tp,
  gpuMemoryUtilization: 0.9,
  blockSize: 16,
});

describe('kvBytesPerToken', () => {
  it.each([
    ['llama-3.1-8b', 131_072],
    ['llama-3.1-70b', 327_680],
    ['llama-3.1-405b', 516_096],
    ['qwen3-32b', 262_144],
    ['llama-2-70b', 327_680],
    ['opt-13b', 819_200],
    ['opt-66b', 2_359_296],
    ['deepseek-v3', 61 * (512 + 64) * 2],
    ['gpt-oss-120b', 18 * 2 * 8 * 64 * 2],
  ])('of %s is %i', (model, bytes) => {
    expect(kvBytesPerToken(findModel(model))).toBe(bytes);
  });

  it(
    'on one GPU shrinks with the degree down to one KV head, and not at all for latent ' +
      'attention',
    () => {
      expect(kvBytesPerToken(findModel('llama-3.1-8b'), 4)).toBe(131_072 / 4);
      const fewHeads = findModel('qwen3-30b-a3b');
      expect(kvBytesPerToken(fewHeads, 8)).toBe(kvBytesPerToken(fewHeads, 4));
      const latent = findModel('deepseek-v3');
      expect(kvBytesPerToken(latent, 8)).toBe(kvBytesPerToken(latent));
    },
  );
});

describe('kvCapacityBlocks', () => {
  it.each(published)('of $model on $gpu TP$tp is within 0.1 % of the data', (row) => {
    const tokens = kvCapacityBlocks(query(row.model, row.gpu, row.tp)) * 16;
    expect(kvBytesPerToken(findModel(row.model))).toBe(row.kv_bytes_per_token);
    expect(Math.abs(tokens / row.kv_capacity_tokens - 1)).toBeLessThan(0.001);
  });

  it('refuses a model that does not fit, with what it needs and what there is', () => {
    const failure = () => kvCapacityBlocks(query('llama-3.1-70b', 'h100', 1));
    expect(failure).toThrow(HardwareError);
    expect(failure).toThrow(
      'llama-3.1-70b needs 131.4 GiB of weights on each of 1 h100, where 70.1 GiB are usable',
    );
  });

  it.each([
    ['llama-3.1-8b', 3],
    ['llama-3.1-8b', 16],
    ['llama-3.1-8b', 0],
    ['qwen3-30b-a3b', 6],
    ['opt-13b', 3],
  ])('refuses to spread %s over %i GPUs', (model, tp) => {
    expect(() => kvCapacityBlocks(query(model, 'h200', tp))).toThrow('cannot be spread over');
  });

  it('grows with utilisation and degree, and shrinks with the block size', () => {
    const base = query('llama-3.1-8b', 'h100', 1);
    const blocks = kvCapacityBlocks(base);
    expect(kvCapacityBlocks({ ...base, gpuMemoryUtilization: 0.95 })).toBeGreaterThan(blocks);
    expect(kvCapacityBlocks({ ...base, tp: 2 })).toBeGreaterThan(2 * blocks);
    expect(kvCapacityBlocks({ ...base, blockSize: 32 })).toBe(Math.floor(blocks / 2));
  });
});
