import { describe, expect, it } from 'vitest';
import { findGpu } from './gpu-catalogue';
import { neighbouringGpus } from './gpu-generations';

describe('the GPUs before and after one', () => {
  it('are of the catalogue, and newer ones read their memory faster', () => {
    for (const name of ['a100-80g', 'h100', 'h200', 'b200']) {
      const { older, newer } = neighbouringGpus(name);
      const rates = [older!, name, newer!].map((one) => findGpu(one).memoryBytesPerSecond);
      expect(rates).toEqual([...rates].sort((a, b) => a - b));
    }
  });

  it('are none for the ends, and for other accelerators', () => {
    expect(neighbouringGpus('a100-40g')).toEqual({ newer: 'a100-80g' });
    expect(neighbouringGpus('b300')).toEqual({ older: 'b200' });
    expect(neighbouringGpus('mi300x')).toEqual({});
  });
});
