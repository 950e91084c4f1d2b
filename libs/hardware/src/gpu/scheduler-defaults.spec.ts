import { describe, expect, it } from 'vitest';
import { findGpu } from './gpu-catalogue';
import { schedulerDefaults } from './scheduler-defaults';

describe("the defaults of vLLM's API server", () => {
  it.each([
    ['a100-80gb', 256, 2_048],
    ['rtx-4090', 256, 2_048],
    ['l40s', 256, 2_048],
    ['h100', 1_024, 8_192],
    ['h200', 1_024, 8_192],
    ['b200', 1_024, 16_384],
    ['mi300x', 1_024, 16_384],
    ['tpu-v5e', 256, 512],
    ['tpu-v6e', 256, 1_024],
  ])('on %s are %i sequences and %i tokens', (gpu, maxNumSeqs, maxNumBatchedTokens) => {
    expect(schedulerDefaults(findGpu(gpu))).toEqual({ maxNumSeqs, maxNumBatchedTokens });
  });
});
