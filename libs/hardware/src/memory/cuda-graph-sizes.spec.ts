import { describe, expect, it } from 'vitest';
import { cudaGraphSizes, findGpu } from '..';

const sizesOf = (changes: Partial<Parameters<typeof cudaGraphSizes>[0]> = {}) =>
  cudaGraphSizes({
    gpu: findGpu('h100'),
    maxNumSeqs: 1024,
    maxNumBatchedTokens: 8192,
    ...changes,
  });

describe('cudaGraphSizes', () => {
  it("are the 51 of vLLM's documentation for an H100", () => {
    const sizes = sizesOf();
    expect(sizes.slice(0, 6)).toEqual([1, 2, 4, 8, 16, 24]);
    expect(sizes.slice(-3)).toEqual([480, 496, 512]);
    expect(sizes).toContain(256);
    expect(sizes).toHaveLength(51);
  });

  it('end at twice the sequences of a batch, and at its tokens', () => {
    expect(sizesOf({ maxNumSeqs: 3 })).toEqual([1, 2, 4]);
    expect(sizesOf({ maxNumSeqs: 10 })).toEqual([1, 2, 4, 8, 16]);
    expect(sizesOf({ maxNumBatchedTokens: 21 })).toEqual([1, 2, 4, 8, 16, 21]);
  });

  it('go up to 1024 only on data-center Blackwell', () => {
    const largest = (gpu: string) => sizesOf({ gpu: findGpu(gpu) }).at(-1);
    expect(['b200', 'gb300', 'rtx-pro-6000', 'h200'].map(largest)).toEqual([1024, 1024, 512, 512]);
  });

  it('are the configured ones, or vLLM’s up to the configured largest, or none', () => {
    expect(sizesOf({ cudagraphCaptureSizes: '32, 8 9000,8' })).toEqual([8, 32]);
    expect(sizesOf({ maxCudagraphCaptureSize: 20 })).toEqual([1, 2, 4, 8, 16]);
    expect(sizesOf({ enforceEager: true, cudagraphCaptureSizes: '8' })).toEqual([]);
  });
});
