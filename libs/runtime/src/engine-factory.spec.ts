import { describe, expect, it } from 'vitest';
import { type BatonConfig, defaultConfig } from './config/config';
import { UsageError } from './config/usage-error';
import { engineSetup } from './engine-factory';

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
