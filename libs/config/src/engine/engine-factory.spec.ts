import { describe, expect, it } from 'vitest';
import { type BatonConfig, defaultConfig } from '../config';
import { UsageError } from '../usage-error';
import { engineSetup } from './engine-factory';
import { servedNamesOf } from './served-names';

const optionsOf = (changes: Partial<BatonConfig>) =>
  engineSetup({ ...defaultConfig(), model: 'llama-3.1-70b', gpu: 'h100', ...changes }, 'decode')
    .options;

describe('the KV options of an engine', () => {
  it('default to LRU without a host tier', () => {
    const options = optionsOf({ tensorParallelSize: 8 });
    expect(options.evictionPolicy).toBe('lru');
    expect(options.hostTier).toBeUndefined();
    expect(optionsOf({ tensorParallelSize: 8, evictionPolicy: 'fifo' }).evictionPolicy).toBe(
      'fifo',
    );
  });

  it('count the host memory of all ranks, and the bytes that one of them loads', () => {
    const kv = { kvOffloadingSize: 100, kvOffloadingBandwidth: 50 };
    // 80 layers · 2 · 8 heads · 128 · 2 B = 320 KiB per token, an eighth of it per rank.
    expect(optionsOf({ tensorParallelSize: 8, ...kv }).hostTier).toEqual({
      blocks: Math.floor((100 * 2 ** 30) / (327_680 * 16)),
      bytesPerBlock: (327_680 * 16) / 8,
      bytesPerSecond: 50e9,
    });
  });

  it('refuse host memory that holds no block', () => {
    const tooSmall = { tensorParallelSize: 8, kvOffloadingSize: 0.001 };
    expect(() => optionsOf(tooSmall)).toThrow(UsageError);
    expect(() => optionsOf(tooSmall)).toThrow(/kv_offloading_size \(0.001 GiB\) must hold/);
  });
});

describe('the KV blocks of an engine', () => {
  const blocksOf = (changes: Partial<BatonConfig>) =>
    engineSetup(defaultConfig({ model: 'qwen3-8b', gpu: 'h100', ...changes }), 'decode').options
      .numBlocks;

  it('are within 1 % of the 377,024 tokens that vLLM 0.30 logged for Qwen3-8B on one H100', () => {
    expect(Math.abs((16 * blocksOf({})) / 377_024 - 1)).toBeLessThan(0.01);
  });

  it('are fewer the more sequences and tokens a step may have, and by the version of vLLM', () => {
    const few = blocksOf({ maxNumSeqs: 64, maxNumBatchedTokens: 512 });
    expect(few).toBeGreaterThan(blocksOf({ maxNumSeqs: 1024, maxNumBatchedTokens: 512 * 2 }));
    expect(few).toBeGreaterThan(blocksOf({ maxNumSeqs: 64, maxNumBatchedTokens: 65_536 }));
    expect(blocksOf({ vllmVersion: '0.11.2' })).toBeLessThan(blocksOf({ vllmVersion: '0.30' }));
  });
});

describe('async scheduling', () => {
  const isOn = (changes: Partial<BatonConfig>) =>
    engineSetup(defaultConfig(changes), 'aggregated').options.asyncScheduling;

  it('is on where it is in vLLM, unless it is switched off', () => {
    expect(isOn({})).toBe(true);
    expect(isOn({ asyncScheduling: false })).toBe(false);
    expect(isOn({ vllmVersion: '0.13' })).toBe(false);
    expect(isOn({ vllmVersion: '0.13', asyncScheduling: true })).toBe(true);
  });

  it('is off, and cannot be asked for, beside drafts and pipeline stages', () => {
    for (const changes of [
      { numSpeculativeTokens: 2 },
      { pipelineParallelSize: 2, stepTime: 'roofline' },
    ] as const) {
      expect(isOn(changes)).toBe(false);
      expect(() => isOn({ ...changes, asyncScheduling: true })).toThrow(UsageError);
    }
  });
});

describe('the name of the model for clients', () => {
  const nameOf = (config: Partial<BatonConfig>) =>
    engineSetup(defaultConfig(config), 'decode').servedModelName;

  it('is the first of several, and the model where none is given', () => {
    expect(nameOf({ servedModelName: ['a', 'b'] })).toBe('a');
    expect(nameOf({})).toBe('llama-3.1-8b');
    expect(nameOf({ servedModelName: [] })).toBe('llama-3.1-8b');
    expect(servedNamesOf({ servedModelName: ['a', 'b', 'a'], model: 'm' })).toEqual(['a', 'b']);
  });
});

describe('how one rank reads a KV block', () => {
  const shapeOf = (stage: 'prefill' | 'decode', changes: Partial<BatonConfig>) =>
    engineSetup(defaultConfig({ gpu: 'h200', model: 'llama-3.1-8b', ...changes }), stage)
      .transferShape;
  const split = { prefillTensorParallelSize: 4, decodeTensorParallelSize: 2 };

  it('is one read for K and one for V of each layer, of the heads that it stores', () => {
    const bytesPerBlock = (131_072 / 2) * 16;
    const shape = { bytesPerBlock, descriptorsPerBlock: 2 * 32 };
    expect(shapeOf('decode', { tensorParallelSize: 2 })).toEqual(shape);
    expect(shapeOf('decode', { ...split, prefillTensorParallelSize: 1 })).toEqual(shape);
  });

  it('is so many times as many where the source is spread over more ranks', () => {
    expect(shapeOf('decode', split).descriptorsPerBlock).toBe(2 * 2 * 32);
    expect(shapeOf('prefill', split).descriptorsPerBlock).toBe(2 * 32);
  });

  it('is one read per layer of a latent vector, which every rank of the source has', () => {
    const model = { model: 'deepseek-v3', quantization: 'fp8_block' } as const;
    const wide = { prefillTensorParallelSize: 8, decodeTensorParallelSize: 8 };
    expect(shapeOf('decode', { ...model, ...wide }).descriptorsPerBlock).toBe(61);
  });
});

describe('LoRA adapters of a configuration', () => {
  const optionsWith = (config: Partial<BatonConfig>) =>
    engineSetup(defaultConfig(config), 'prefill').options;

  it('limit the batch where there are any, or may be', () => {
    expect(optionsWith({ maxLoras: 3 }).maxAdapters).toBeUndefined();
    expect(optionsWith({ maxLoras: 3, enableLora: true }).maxAdapters).toBe(3);
    expect(optionsWith({ allowRuntimeLoraUpdating: true }).maxAdapters).toBe(1);
    expect(optionsWith({ loraModules: ['a=b'] }).maxAdapters).toBe(1);
  });

  it.each([
    [['sql'], 'neither name=path'],
    [['=x'], 'neither name=path'],
    [['{"name": 3, "path": "x"}'], 'neither name=path'],
    [['{broken'], 'neither name=path'],
    [['a=x', 'a=y'], 'two models are called `a`'],
    [['llama-3.1-8b=x'], 'two models are called'],
  ])('refuse %j', (loraModules, message) => {
    expect(() => optionsWith({ loraModules })).toThrow(message);
  });
});
