import { describe, expect, it } from 'vitest';
import { servingScript } from '../../validation/serving/serving-script';

/** A row of InferenceX with vLLM on H200 but for the given columns. */
function scriptOf(columns: Record<string, string>) {
  return servingScript({
    source: 'InferenceX',
    framework: 'vllm',
    model: 'meta-llama/Llama-3.1-70B',
    dtype: 'fp8',
    gpu: 'h200_sxm',
    tp: '8',
    n_gpus: '8',
    pd_split: 'agg',
    decode_parallel: '',
    isl: '1024',
    osl: '1024',
    concurrency: '64',
    version: '',
    date: '2026-03-25',
    ...columns,
  });
}

const DEEPSEEK = { framework: 'sglang', model: 'deepseek-ai/DeepSeek-V3', gpu: 'b200_sxm' };
const MINIMAX = { model: 'MiniMaxAI/MiniMax-M2.5' };
const NVIDIA = { source: 'silicon_sample.csv (NVIDIA run)', model: 'Qwen/Qwen3-32B' };

describe('the script of a published run', () => {
  it('with vLLM admits as many sequences as there are clients, 512 on Blackwell', () => {
    const hopper = { maxNumBatchedTokens: 8_192, maxNumSeqs: 64 };
    expect(scriptOf({})).toEqual(hopper);
    const blackwell = { ...hopper, maxNumSeqs: 512, isNormInAllReduce: true };
    expect(scriptOf({ gpu: 'b200_sxm' })).toEqual(blackwell);
    const gptOss = scriptOf({ model: 'openai/gpt-oss-120b' });
    expect(gptOss).toEqual({ ...hopper, maxCudagraphCaptureSize: 2_048 });
  });

  it.each([
    [{ gpu: 'h100_sxm' }, { maxNumSeqs: 256 }],
    [{ gpu: 'h200_sxm' }, { gpuMemoryUtilization: 0.95 }],
    [
      { gpu: 'b200_sxm', version: '0.17.0' },
      { isExpertParallel: true, gpuMemoryUtilization: 0.95 },
    ],
    [
      { gpu: 'b200_sxm', version: '0.19.0' },
      { maxNumBatchedTokens: 2_048, maxCudagraphCaptureSize: 2_048 },
    ],
    [
      { gpu: 'b300_sxm', version: '0.19.0', date: '2026-04-20' },
      { maxNumBatchedTokens: 2_048, maxCudagraphCaptureSize: 2_048, float32: 'high' },
    ],
    [{ gpu: 'b200_sxm', version: 'nightly-5b8c30d62b75' }, {}],
  ])('for MiniMax in %j is %j', (columns, script) => {
    expect(scriptOf({ ...MINIMAX, ...columns })).toEqual(script);
  });

  it('with TensorRT-LLM computes prompts whole, within tokens that hold one', () => {
    const tokensOf = (columns: Record<string, string>): number | undefined => {
      const script = scriptOf({ framework: 'trtllm', ...columns });
      expect(script).toEqual({ maxNumBatchedTokens: script.maxNumBatchedTokens, isWhole: true });
      return script.maxNumBatchedTokens;
    };
    expect(tokensOf({})).toBe(2_248);
    expect(tokensOf({ model: 'openai/gpt-oss-120b' })).toBe(20_000);
    expect(tokensOf({ model: DEEPSEEK.model })).toBe(8_192);
    // 64 · ⌊(64 clients + 8,192 tokens + 127) / 64⌋
    expect(tokensOf({ model: DEEPSEEK.model, isl: '8192' })).toBe(8_320);
    expect(scriptOf({ framework: 'trtllm', pd_split: '1P4D' })).toEqual({});
  });

  it.each([
    [{ dtype: 'fp4', tp: '4' }, 16_384, 256, 30],
    [{ dtype: 'fp4', concurrency: '8' }, 16_384, 256, 10],
    [{ concurrency: '16' }, 32_768, 128, 30],
    [{ tp: '4' }, 8_192, 32, 10],
  ])('with SGLang for DeepSeek in %j', (columns, tokens, seqs, interval) => {
    expect(scriptOf({ ...DEEPSEEK, ...columns })).toEqual({
      maxNumBatchedTokens: tokens,
      maxNumSeqs: seqs,
      schedulerRecvInterval: interval,
    });
  });

  it('with SGLang names nothing on Hopper', () => {
    expect(scriptOf({ ...DEEPSEEK, gpu: 'h200_sxm' })).toEqual({});
  });

  it.each([
    [{ gpu: 'gb200', decode_parallel: 'tp4 dp1 ep1' }, { schedulerRecvInterval: 10 }],
    [{ gpu: 'gb200', decode_parallel: 'tp1 dp32 ep32' }, {}],
    [{ gpu: 'gb300', dtype: 'fp4', decode_parallel: 'tp4 dp1 ep1' }, { schedulerRecvInterval: 10 }],
    [{ gpu: 'gb300', dtype: 'fp8', decode_parallel: 'tp4 dp1 ep1' }, {}],
    [{ gpu: 'b200_sxm', decode_parallel: 'tp8 dp1 ep1' }, {}],
  ])('with SGLang of prefill and decode in %j is %j', (columns, script) => {
    expect(scriptOf({ ...DEEPSEEK, pd_split: '1P2D', ...columns })).toEqual(script);
  });

  it("of NVIDIA's runs is what AIConfigurator writes for their versions", () => {
    const clients = { tp: '2', concurrency: '64' };
    const whole = { maxNumBatchedTokens: 1_024 + 1_500 + 16, isWhole: true };
    const script = (columns: Record<string, string>) =>
      scriptOf({ ...NVIDIA, ...clients, ...columns });
    expect(script({ framework: 'trtllm' })).toEqual(whole);
    expect(script({ framework: 'sglang', version: '0.5.6.post2' })).toEqual({
      ...whole,
      isMixed: true,
    });
    expect(script({ framework: 'sglang', version: '0.5.1.post1' })).toEqual({
      maxNumBatchedTokens: 2_524,
      isWhole: true,
    });
    expect(script({ version: '0.12.0' })).toEqual({});
  });

  it('of other sources names nothing', () => {
    expect(scriptOf({ source: 'vLLM issue 26072 (a user)' })).toEqual({});
  });
});
