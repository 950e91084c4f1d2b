import { findGpu, findModel, servedIn } from '@baton/hardware';
import { OperatorTables } from '../operators/operator-tables';
import { describe, expect, it } from 'vitest';
import type { KernelChoice } from './kernel-choice';
import { StepComposer } from './step-composer';
import { readShipped } from '../../../../test/support/shipped-operators';

interface Deployment extends KernelChoice {
  readonly model?: string;
  readonly gpu?: string;
  readonly tp?: number;
  readonly dp?: number;
}

function composerOf({ model = 'minimax-m2', gpu = 'h200', tp = 4, dp, ...choice }: Deployment) {
  const found = findGpu(gpu);
  const tables = OperatorTables.of(found.operators!, { read: readShipped })!;
  const placement = { model: findModel(model), gpu: found, tp, dp };
  return new StepComposer(placement, tables, choice);
}

function us(name: string, tokens: number, deployment: Deployment = {}): number {
  return composerOf(deployment)
    .linear(tokens, true)
    .find((operator) => operator.name === name)!.us;
}

describe('norms of layers', () => {
  it.each([
    ['part of the all-reduce up to 2 MiB', { tokens: 341 }, 0],
    ['kernels above', { tokens: 342 }, 1],
    ['kernels in vLLM before 0.16', { vllmMinor: 15 }, 1],
    ['kernels where vLLM was told so', { isNormInAllReduce: false }, 1],
    ['part of it in older ones that were told so', { vllmMinor: 11, isNormInAllReduce: true }, 0],
    ['kernels beside other ranks before 0.21', { vllmMinor: 20, dp: 2 }, 1],
    ['part of it beside other ranks since', { vllmMinor: 21, dp: 2 }, 0],
    ['kernels on a B300 before 0.19', { vllmMinor: 18, gpu: 'b300' }, 1],
    ['kernels with SGLang', { framework: 'sglang' }, 1],
    ['kernels on an A100', { model: 'llama-3.1-8b', gpu: 'a100' }, 1],
  ] as const)('are %s', (_what, options, kernels) => {
    const { tokens = 64, ...deployment } = options as Deployment & { readonly tokens?: number };
    expect(Math.sign(us('norms', tokens, deployment))).toBe(kernels);
  });
});

describe('experts whose hidden size is padded', () => {
  const gptOss = { model: 'gpt-oss-120b', gpu: 'b200', tp: 2 } as const;
  const kernelsOf = (name: string, tokens: number, choice: Deployment = {}): number => {
    const found = composerOf({ ...gptOss, ...choice }).linear(tokens, true);
    const KERNEL_US = 3;
    return Math.round((found.find((each) => each.name === name)?.us ?? 0) / 36 / KERNEL_US);
  };

  it('are padded and cut by two kernels a layer where norms are part of the all-reduce', () => {
    expect(kernelsOf('padding', 1)).toBe(2);
    expect(kernelsOf('norms', 1)).toBe(0);
  });

  it.each([
    ['norms are kernels', { isNormInAllReduce: false }],
    ['the kernel pads by itself', { gpu: 'h200' }],
    ['an engine has one GPU', { tp: 1 }],
    ['the framework is another', { framework: 'trtllm' }],
  ] as const)('need no kernel where %s', (_where, choice) => {
    expect(kernelsOf('padding', 1, choice)).toBe(0);
  });

  it('leave half of the norms kernels in vLLM before 0.12', () => {
    const old = { vllmMinor: 11, isNormInAllReduce: true } as const;
    expect(kernelsOf('norms', 1, old)).toBe(1);
    expect(kernelsOf('norms', 1, { ...old, vllmMinor: 12 })).toBe(0);
  });
});

describe('a router in 32 bits', () => {
  const LAYERS = 62;
  /** Half of the numbers of a token that were measured. */
  const SHARE = 0.5;

  it('takes the measured time of PyTorch by the numbers of a token, and widens the tokens', () => {
    const widening = us('router', 64, { vllmMinor: 19 }) / LAYERS - 63.3 * SHARE;
    expect(widening).toBeGreaterThan(3);
    expect(widening).toBeLessThan(3.5);
  });

  it('takes less in TF32', () => {
    const highest = us('router', 64, { vllmMinor: 19 });
    expect(highest - us('router', 64, { vllmMinor: 19, float32: 'high' })).toBeCloseTo(
      LAYERS * SHARE * (63.3 - 20.1),
      6,
    );
  });

  it("takes the time of vLLM's own kernel up to 32 tokens since 0.26", () => {
    expect(us('router', 16)).toBeCloseTo(LAYERS * SHARE * 3.88, 6);
    expect(us('router', 33)).toBe(us('router', 33, { vllmMinor: 19 }));
  });
});

describe('choosing experts', () => {
  it('is a kernel of each layer where the table times experts that were chosen before', () => {
    expect(composerOf({}).choice(1).us / 62).toBeCloseTo(3, 2);
  });

  it('is in the tables of MXFP4 and NVFP4, and not in dense models', () => {
    expect(composerOf({ model: 'gpt-oss-120b' }).choice(64).us).toBe(0);
    expect(composerOf({ model: 'llama-3.1-8b' }).choice(64).us).toBe(0);
    const gpu = findGpu('b200');
    const model = servedIn(findModel('minimax-m2'), gpu, { quantization: 'nvfp4' });
    const tables = OperatorTables.of(gpu.operators!, { read: readShipped })!;
    expect(new StepComposer({ model, gpu, tp: 4 }, tables).choice(64).us).toBe(0);
  });
});
