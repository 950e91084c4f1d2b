import {
  type EnginePlacement,
  findGpu,
  findLink,
  findModel,
  HardwareError,
  kvCapacityBlocks,
} from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { type BatchAggregates, buildStepTimeModel } from '..';
import { pageText } from '../../../../test/support/page';
import { decoding, prompts } from '../../test/test-batches';

type Parallel = Pick<EnginePlacement, 'tp' | 'dp' | 'expertParallel' | 'fabric'>;
const place = (model: string, gpu: string, parallel: Parallel): EnginePlacement => ({
  model: findModel(model),
  gpu: findGpu(gpu),
  ...parallel,
});
const build = (placement: EnginePlacement, overheadMs = 0) =>
  buildStepTimeModel({ kind: 'roofline', overheadMs }, placement);
const qwen = (parallel: Parallel) => build(place('qwen3-235b-a22b', 'h200', parallel));

describe('experts shared by data-parallel ranks', () => {
  it('cost nothing more in a single rank, as in vLLM, where the all-reduce adds them up', () => {
    const without = qwen({ tp: 8 });
    const single = qwen({ tp: 8, expertParallel: true });
    for (const batch of [prompts(2, 3000), decoding(64, 4000)]) {
      expect(single.stepUs(batch)).toBe(without.stepUs(batch));
    }
  });

  it('do not change a dense model, whose ranks are copies', () => {
    const alone = build(place('llama-3.1-8b', 'h100', { tp: 2 }));
    const ranks = build(place('llama-3.1-8b', 'h100', { tp: 2, dp: 8 }));
    expect(ranks.stepUs(decoding(64, 4000))).toBe(alone.stepUs(decoding(64, 4000)));
  });

  it('are read by each GPU in its share, as many as the tokens of all ranks are routed to', () => {
    const model = findModel('qwen3-30b-a3b');
    const gpu = findGpu('h200');
    const { experts, activeExperts, expertIntermediate } = model.experts!;
    const expertUs =
      (3 * model.hidden * expertIntermediate * 2 * model.layers * 1e6) /
      (gpu.memoryBytesPerSecond * gpu.efficiency.memory);
    const alone = build({ model, gpu, tp: 1 });
    const four = build({ model, gpu, tp: 1, dp: 4, expertParallel: true });
    const read = (ranks: number) =>
      (experts * (1 - (1 - activeExperts / experts) ** ranks)) / ranks;
    const bytes = (3 / 4) * activeExperts * model.hidden * (2 + 2) * model.layers;
    const rate = (gpu.interconnect.bytesPerSecond * gpu.interconnect.allReduceEfficiency) / 1e6;
    const copies = 4 / activeExperts;
    const exchangeUs = (bytes * copies) / rate + 2 * model.layers * gpu.interconnect.allReduceUs;
    const expected = (read(4) - read(1)) * expertUs + exchangeUs;
    expect(four.stepUs(decoding(1, 0)) - alone.stepUs(decoding(1, 0))).toBeCloseTo(expected, 6);
  });

  it('take less of a prompt that one rank computes alone, and as much when all are alike', () => {
    const ranks = qwen({ tp: 1, dp: 8, expertParallel: true });
    const batch = prompts(1, 4096);
    const us = (expertTokens?: number) => ranks.stepUs({ ...batch, expertTokens });
    expect(us(4096)).toBe(us());
    const { model, gpu } = place('qwen3-235b-a22b', 'h200', { tp: 1 });
    const { activeExperts, expertIntermediate } = model.experts!;
    const parameters = 3 * model.hidden * expertIntermediate * activeExperts * model.layers;
    const usPerToken = (2 * parameters * 1e6) / gpu.flopsPerSecond / gpu.efficiency.prefillCompute;
    expect(us() - us(1_000)).toBeCloseTo(3_096 * usPerToken, 3);
  });

  it('make a decode step shorter while reading weights decides, within a node', () => {
    const times = [1, 2, 4, 8].map((dp) =>
      build(place('deepseek-v3', 'h200', { tp: 1, dp, expertParallel: true })).stepUs(
        decoding(64, 4096),
      ),
    );
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(times[0]! / times[3]!).toBeGreaterThan(3);
  });

  it('exchange tokens over the slower of interconnect and fabric', () => {
    const at = (link: string) =>
      qwen({ tp: 8, dp: 4, expertParallel: true, fabric: findLink(link) }).stepUs(prompts(2, 4096));
    expect(at('100gbe')).toBeGreaterThan(1.5 * at('infiniband-ndr'));
    expect(qwen({ tp: 8, dp: 4, expertParallel: true }).stepUs(prompts(2, 4096))).toBe(
      at('infiniband-ndr'),
    );
    const near = (link: string) =>
      qwen({ tp: 2, dp: 4, expertParallel: true, fabric: findLink(link) }).stepUs(prompts(2, 4096));
    expect(near('100gbe')).toBe(near('infiniband-ndr'));
  });

  it('go to fewer GPUs when tokens are routed than when all ranks gather them', () => {
    const batch = prompts(1, 8192);
    const routed = qwen({ tp: 1, dp: 32, expertParallel: true }).stepUs(batch);
    expect(qwen({ tp: 1, dp: 32 }).stepUs(batch)).toBeGreaterThan(2 * routed);
  });

  it('leave more memory for KV, the more GPUs hold them', () => {
    const capacity = (dp: number) =>
      kvCapacityBlocks({
        ...place('deepseek-v3', 'h800', { tp: 1, dp, expertParallel: true }),
        gpuMemoryUtilization: 0.9,
        blockSize: 64,
      });
    expect(() => capacity(8)).toThrow('GiB of weights on each of 8 h800');
    expect(capacity(128)).toBeGreaterThan(capacity(32));
  });

  it.each([
    ['a model without experts', 'llama-3.1-8b', 2, 1, 'llama-3.1-8b has no experts'],
    ['more GPUs than experts', 'mixtral-8x7b', 8, 2, 'mixtral-8x7b has 8 experts'],
  ])('refuse %s', (_, model, tp, dp, sentence) => {
    const failure = () => build(place(model, 'h200', { tp, dp, expertParallel: true }));
    expect(failure).toThrow(HardwareError);
    expect(failure).toThrow(sentence);
  });

  it('are named in the description', () => {
    expect(qwen({ tp: 2, dp: 4, expertParallel: true }).description).toContain(
      'qwen3-235b-a22b on h200 TP2 DP4 EP8',
    );
  });
});

interface Published {
  readonly what: string;
  readonly placement: EnginePlacement;
  readonly batch: BatchAggregates;
  readonly measured: number;
  readonly inferSim: number;
}

/**
 * Tokens per second and GPU as InferSim publishes them, measured and simulated, with the setups of
 * its examples: prompts of 4,096, DeepSeek's outputs of 1,786, Qwen's of 2,048, half of which
 * counts as context.
 */
const PUBLISHED: readonly Published[] = [
  {
    what: 'DeepSeek-V3, H800, EP32, prefill of 16,384 tokens per GPU',
    placement: place('deepseek-v3', 'h800', { tp: 1, dp: 32, expertParallel: true }),
    batch: prompts(4, 4096),
    measured: 7839,
    inferSim: 9034,
  },
  {
    what: 'DeepSeek-V3, H800, EP128, decode of 128 per GPU',
    placement: place('deepseek-v3', 'h800', { tp: 1, dp: 128, expertParallel: true }),
    batch: decoding(128, 4096 + 1786 / 2),
    measured: 2324,
    inferSim: 2675,
  },
  {
    what: 'Qwen3-30B-A3B, H20, one GPU, prefill of 16,384 tokens',
    placement: place('qwen3-30b-a3b', 'h20', { tp: 1 }),
    batch: prompts(4, 4096),
    measured: 16_594,
    inferSim: 17_350,
  },
  {
    what: 'Qwen3-30B-A3B, H20, EP4, decode of 100 per GPU',
    placement: place('qwen3-30b-a3b', 'h20', { tp: 1, dp: 4, expertParallel: true }),
    batch: decoding(100, 4096 + 1024),
    measured: 2749,
    inferSim: 2632,
  },
];

const DOCUMENT = pageText('docs/step-time.md');

describe('the roofline beside what InferSim publishes of experts', () => {
  it.each(PUBLISHED)('$what: documented', ({ what, placement, batch, measured, inferSim }) => {
    const model = buildStepTimeModel({ kind: 'roofline' }, placement);
    const tokens = batch.prefillTokens + batch.decodeSeqs;
    const perSecond = (tokens / model.stepUs(batch)) * 1e6;
    const error = (against: number) => ((against / measured - 1) * 100).toFixed(1);
    const cells = [
      what,
      measured,
      inferSim,
      error(inferSim),
      Math.round(perSecond),
      error(perSecond),
    ];
    expect(DOCUMENT).toContain(`| ${cells.join(' | ')} |`);
  });
});
