import type { Stage } from '@baton/contract';
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

describe('the largest batch in a CUDA graph', () => {
  const largestOf = (changes: Partial<BatonConfig>) =>
    optionsOf({ tensorParallelSize: 8, ...changes }).maxCudagraphCaptureSize;

  it('is the largest size that vLLM captures', () => {
    expect(largestOf({})).toBe(512);
    expect(largestOf({ maxNumSeqs: 64 })).toBe(128);
    expect(largestOf({ gpu: 'b200' })).toBe(1_024);
    expect(largestOf({ cudagraphCaptureSizes: '1,2,40' })).toBe(40);
  });

  it('is 0 with enforce_eager, and unknown of other frameworks', () => {
    expect(largestOf({ enforceEager: true })).toBe(0);
    expect(largestOf({ framework: 'sglang' })).toBeUndefined();
  });
});

describe('the link of an engine', () => {
  const linkOf = (changes: Partial<BatonConfig>) =>
    engineSetup(defaultConfig({ gpu: 'h100', tensorParallelSize: 4, ...changes }), 'decode').link;

  it('is one port of each tensor-parallel rank', () => {
    expect(linkOf({ link: 'infiniband-ndr' })).toMatchObject({ bytesPerSecond: 40e9, ports: 4 });
  });

  it('is one port when a time per token is given, which is that of the whole transfer', () => {
    expect(linkOf({ kvCacheTransferTimePerToken: 0.1 }).ports).toBe(1);
  });
});

describe('the KV pool of a cluster', () => {
  const poolOf = (changes: Partial<BatonConfig>) =>
    engineSetup(
      defaultConfig({ model: 'llama-3.1-70b', gpu: 'h100', tensorParallelSize: 8, ...changes }),
      'prefill',
    ).kvPool;
  const on = { kvPool: 'global', kvOffloadingSize: 100 } as const;

  it('does not exist by default', () => {
    expect(poolOf({ kvOffloadingSize: 100 })).toBeUndefined();
  });

  it('gets the host memory of each engine, and the link of the hand-over', () => {
    const own = { balancingThreshold: 1, replicas: 0 };
    const bytes = { blocks: 20_480, bytesPerBlock: (327_680 * 16) / 8 };
    const link = { bytesPerSecond: 40e9, latencyUs: 500 };
    expect(poolOf(on)).toEqual({ ...bytes, ...link, ...own });
    const given = { kvPoolBandwidth: 20, kvPoolLatency: 2, kvPoolReplicas: 1 };
    expect(poolOf({ ...on, ...given, kvPoolBalancingThreshold: 3 })).toEqual({
      ...bytes,
      bytesPerSecond: 20e9,
      latencyUs: 2_000,
      balancingThreshold: 3,
      replicas: 1,
    });
  });

  it('is refused without memory and without prefix caching', () => {
    expect(() => poolOf({ kvPool: 'global' })).toThrow(
      'kv_pool global needs kv_offloading_size above 0: the pool is the memory of all engines.',
    );
    expect(() => poolOf({ ...on, enablePrefixCaching: false })).toThrow(
      'kv_pool global needs enable_prefix_caching: it finds KV by prefix.',
    );
  });
});

describe('the KV blocks of an engine', () => {
  const blocksOf = (changes: Partial<BatonConfig>) =>
    engineSetup(defaultConfig({ model: 'qwen3-8b', gpu: 'h100', ...changes }), 'decode').options
      .numBlocks;

  it('are within 1 % of the 377,024 tokens that vLLM 0.30 logged for Qwen3-8B on one H100', () => {
    expect(Math.abs((16 * blocksOf({})) / 377_024 - 1)).toBeLessThan(0.01);
  });

  it('are one fewer than num_gpu_blocks sets: one block holds no KV', () => {
    expect(blocksOf({ numGpuBlocksOverride: 100 })).toBe(99);
  });

  it('decrease with the sequences and tokens of a step, and by the version of vLLM', () => {
    const few = blocksOf({ maxNumSeqs: 64, maxNumBatchedTokens: 512 });
    expect(few).toBeGreaterThan(blocksOf({ maxNumSeqs: 1024, maxNumBatchedTokens: 512 * 2 }));
    expect(few).toBeGreaterThan(blocksOf({ maxNumSeqs: 64, maxNumBatchedTokens: 65_536 }));
    expect(blocksOf({ vllmVersion: '0.11.2' })).toBeLessThan(blocksOf({ vllmVersion: '0.30' }));
  });
});

describe('the framework', () => {
  const setupOf = (changes: Partial<BatonConfig>, stage: Stage = 'aggregated') =>
    engineSetup(defaultConfig({ gpu: 'h100', model: 'llama-3.1-8b', ...changes }), stage).options;
  const decodeUs = (framework: BatonConfig['framework']) =>
    setupOf({ framework }).stepTime.decodeLaw!(8)!.baseUs;

  it('selects the kernels of composed step times', () => {
    expect(new Set([decodeUs('vllm'), decodeUs('trtllm')]).size).toBe(2);
  });

  it('computes prompts in steps of their own with SGLang by default', () => {
    const sglang = { framework: 'sglang' } as const;
    expect(setupOf(sglang).promptsFirst).toBe(true);
    const mixed: [Partial<BatonConfig>, Stage?][] = [
      [{}],
      [{ framework: 'trtllm' }],
      [sglang, 'decode'],
      [{ ...sglang, enableMixedChunk: true }],
      [{ ...sglang, numSpeculativeTokens: 2 }],
      [{ ...sglang, pipelineParallelSize: 2 }],
      [{ ...sglang, kvOffloadingSize: 1 }],
    ];
    for (const [changes, stage] of mixed) {
      expect([changes, setupOf(changes, stage).promptsFirst]).toEqual([changes, false]);
    }
  });
});

describe('the watermark', () => {
  it("is a share of all blocks, rounded down as vLLM's KVCacheManager does, and off by default", () => {
    const watermarkOf = (watermark?: number) =>
      optionsOf({
        tensorParallelSize: 8,
        numGpuBlocksOverride: 1_999,
        ...(watermark && { watermark }),
      }).watermarkBlocks;
    expect(watermarkOf()).toBe(0);
    expect(watermarkOf(0.01)).toBe(19);
  });
});

describe('CUDA graphs', () => {
  const aggregated = (changes: Partial<BatonConfig>) =>
    engineSetup(defaultConfig({ gpu: 'h100', ...changes }), 'aggregated').options;
  const decodeUs = (decodeSeqs: number, changes: Partial<BatonConfig> = {}) =>
    aggregated(changes).stepTime.decodeLaw!(decodeSeqs)!.baseUs;

  it('pad the steps of composed times, unless the engine is eager', () => {
    expect(decodeUs(250)).toBeGreaterThan(decodeUs(250, { enforceEager: true }));
    expect(decodeUs(256)).toBe(decodeUs(256, { enforceEager: true }));
    expect(decodeUs(250, { cudagraphCaptureSizes: '1, 250' })).toBe(
      decodeUs(250, { enforceEager: true }),
    );
    expect(decodeUs(250, { maxCudagraphCaptureSize: 128 })).toBe(
      decodeUs(250, { enforceEager: true }),
    );
  });

  it('take memory from the KV cache', () => {
    const { numBlocks } = aggregated({});
    expect(aggregated({ cudagraphCaptureSizes: '1' }).numBlocks).toBeGreaterThan(numBlocks);
    expect(aggregated({ enforceEager: true }).numBlocks).toBeGreaterThan(numBlocks);
  });

  it.each([
    [{ cudagraphCaptureSizes: '1,2.5' }, /integers from 1 to 65535.*not '1,2.5'/],
    [
      { cudagraphCaptureSizes: '1,8', maxCudagraphCaptureSize: 4 },
      /max_cudagraph_capture_size \(4\) must be the largest/,
    ],
  ])('are refused like in vLLM: %j', (changes, message) => {
    expect(() => aggregated(changes)).toThrow(UsageError);
    expect(() => aggregated(changes)).toThrow(message);
  });
});

describe('async scheduling', () => {
  const isOn = (changes: Partial<BatonConfig>) =>
    engineSetup(defaultConfig(changes), 'aggregated').options.asyncScheduling;

  it('is on where it is on in vLLM, unless switched off', () => {
    expect(isOn({})).toBe(true);
    expect(isOn({ asyncScheduling: false })).toBe(false);
    expect(isOn({ vllmVersion: '0.13' })).toBe(false);
    expect(isOn({ vllmVersion: '0.13', asyncScheduling: true })).toBe(true);
    expect(isOn({ numSpeculativeTokens: 2 })).toBe(true);
  });

  it.each([
    ['0.23', true],
    ['0.24', false],
  ])('frees blocks that a step writes to as vLLM %s: %s', (vllmVersion, freesAtOnce) => {
    const { options } = engineSetup(defaultConfig({ vllmVersion }), 'decode');
    expect(options).toMatchObject({ hasConnector: true, freesAtOnce });
  });

  it('is on with pipeline stages from vLLM 0.29 on, and cannot be switched on before', () => {
    const staged = { pipelineParallelSize: 2, stepTime: 'roofline' } as const;
    expect(isOn(staged)).toBe(true);
    expect(isOn({ ...staged, asyncScheduling: false })).toBe(false);
    const older = { ...staged, vllmVersion: '0.28' };
    expect(isOn(older)).toBe(false);
    expect(() => isOn({ ...older, asyncScheduling: true })).toThrow(UsageError);
  });
});

describe('the name of the model for clients', () => {
  const nameOf = (config: Partial<BatonConfig>) =>
    engineSetup(defaultConfig(config), 'decode').servedModelName;

  it('is the first of several, and by default the model', () => {
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

  it('takes one read for K and one for V of each layer, of the heads that it stores', () => {
    const bytesPerBlock = (131_072 / 2) * 16;
    const shape = { bytesPerBlock, descriptorsPerBlock: 2 * 32 };
    expect(shapeOf('decode', { tensorParallelSize: 2 })).toEqual(shape);
    expect(shapeOf('decode', { ...split, prefillTensorParallelSize: 1 })).toEqual(shape);
  });

  it('takes one set of reads for each rank of a wider source', () => {
    expect(shapeOf('decode', split).descriptorsPerBlock).toBe(2 * 2 * 32);
    expect(shapeOf('prefill', split).descriptorsPerBlock).toBe(2 * 32);
  });

  it('takes one read per layer of a latent vector, which every rank of the source has', () => {
    const model = { model: 'deepseek-v3', quantization: 'fp8_block' } as const;
    const wide = { prefillTensorParallelSize: 8, decodeTensorParallelSize: 8 };
    expect(shapeOf('decode', { ...model, ...wide }).descriptorsPerBlock).toBe(61);
  });
});

describe('LoRA adapters of a configuration', () => {
  const optionsWith = (config: Partial<BatonConfig>) =>
    engineSetup(defaultConfig(config), 'prefill').options;

  it('limit the batch where some exist or may be added', () => {
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
