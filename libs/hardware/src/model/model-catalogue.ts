import { findByName } from '../find-by-name';
import type { ModelGeometry } from './model-geometry';
import { BF16, type Precision } from './precision';

type Common = Omit<
  ModelGeometry,
  'attention' | 'feedForwardMatrices' | 'precision' | 'tiedEmbeddings' | 'aliases'
>;

interface Row extends Common {
  readonly kvHeads: number;
  readonly headDim: number;
  readonly slidingWindow?: { readonly tokens: number; readonly layers: number };
  readonly aliases?: readonly string[];
  readonly tiedEmbeddings?: boolean;
  readonly feedForwardMatrices?: 2 | 3;
  readonly precision?: Precision;
}

/**
 * A model with grouped attention; gated feed-forward, untied embeddings and BF16 weights unless
 * said.
 */
function grouped(row: Row): ModelGeometry {
  const { kvHeads, headDim, slidingWindow, ...rest } = row;
  const window = slidingWindow ? { slidingWindow } : {};
  return {
    aliases: [],
    tiedEmbeddings: false,
    feedForwardMatrices: 3,
    precision: BF16,
    ...rest,
    attention: { kind: 'grouped', kvHeads, headDim, ...window },
  };
}

const instruct = (...names: string[]) => names.flatMap((name) => [name, `${name}-instruct`]);

const LLAMA_3 = { kvHeads: 8, headDim: 128, vocabulary: 128_256, maxContext: 131_072 } as const;
const LLAMA_70B = { layers: 80, hidden: 8192, heads: 64, intermediate: 28_672 } as const;
const QWEN_3 = {
  ...{ kvHeads: 8, headDim: 128, qkNorm: true },
  ...{ vocabulary: 151_936, maxContext: 40_960 },
} as const;
const OPT = { feedForwardMatrices: 2, tiedEmbeddings: true, vocabulary: 50_272 } as const;
const GPT_OSS = {
  hidden: 2880,
  heads: 64,
  kvHeads: 8,
  headDim: 64,
  intermediate: 2880,
  vocabulary: 201_088,
  maxContext: 131_072,
} as const;

const MXFP4_EXPERTS: Precision = { ...BF16, linear: 'mxfp4', experts: 'mxfp4' };
const BLOCKWISE_FP8: Precision = { ...BF16, linear: 'fp8_block', experts: 'fp8_block' };

/** Every second layer of gpt-oss sees 128 tokens. */
const gptOssWindow = (layers: number) => ({ tokens: 128, layers: layers / 2 });
const gptOssExperts = (experts: number) => ({
  experts,
  activeExperts: 4,
  sharedExperts: 0,
  expertIntermediate: 2880,
  denseLayers: 0,
});
const qwenExperts = (expertIntermediate: number) => ({
  experts: 128,
  activeExperts: 8,
  sharedExperts: 0,
  expertIntermediate,
  denseLayers: 0,
});

const LLAMA: readonly ModelGeometry[] = [
  grouped({
    ...LLAMA_3,
    name: 'llama-3.2-1b',
    aliases: instruct('llama-3.2-1b'),
    layers: 16,
    hidden: 2048,
    heads: 32,
    headDim: 64,
    intermediate: 8192,
    tiedEmbeddings: true,
  }),
  grouped({
    ...LLAMA_3,
    name: 'llama-3.2-3b',
    aliases: instruct('llama-3.2-3b'),
    layers: 28,
    hidden: 3072,
    heads: 24,
    intermediate: 8192,
    tiedEmbeddings: true,
  }),
  grouped({
    ...LLAMA_3,
    name: 'llama-3.1-8b',
    aliases: instruct('llama-3.1-8b', 'meta-llama-3.1-8b', 'llama3.1-8b'),
    layers: 32,
    hidden: 4096,
    heads: 32,
    intermediate: 14_336,
  }),
  grouped({
    ...LLAMA_3,
    ...LLAMA_70B,
    name: 'llama-3.1-70b',
    aliases: instruct('llama-3.1-70b', 'meta-llama-3.1-70b', 'llama-3.3-70b'),
  }),
  grouped({
    ...LLAMA_3,
    name: 'llama-3.1-405b',
    aliases: instruct('llama-3.1-405b', 'meta-llama-3.1-405b'),
    layers: 126,
    hidden: 16_384,
    heads: 128,
    intermediate: 53_248,
  }),
  grouped({
    ...LLAMA_70B,
    name: 'llama-2-70b',
    aliases: ['llama-2-70b-hf', 'llama-2-70b-chat', 'llama-2-70b-chat-hf', 'llama2-70b'],
    kvHeads: 8,
    headDim: 128,
    vocabulary: 32_000,
    maxContext: 4096,
  }),
];

const QWEN: readonly ModelGeometry[] = [
  grouped({
    ...QWEN_3,
    name: 'qwen3-0.6b',
    layers: 28,
    hidden: 1024,
    heads: 16,
    intermediate: 3072,
    tiedEmbeddings: true,
  }),
  grouped({
    ...QWEN_3,
    name: 'qwen3-4b',
    layers: 36,
    hidden: 2560,
    heads: 32,
    intermediate: 9728,
    tiedEmbeddings: true,
  }),
  grouped({
    ...QWEN_3,
    name: 'qwen3-8b',
    layers: 36,
    hidden: 4096,
    heads: 32,
    intermediate: 12_288,
  }),
  grouped({
    ...QWEN_3,
    name: 'qwen3-14b',
    layers: 40,
    hidden: 5120,
    heads: 40,
    intermediate: 17_408,
  }),
  grouped({
    ...QWEN_3,
    name: 'qwen3-32b',
    layers: 64,
    hidden: 5120,
    heads: 64,
    intermediate: 25_600,
  }),
  grouped({
    ...QWEN_3,
    name: 'qwen3-30b-a3b',
    layers: 48,
    hidden: 2048,
    heads: 32,
    kvHeads: 4,
    intermediate: 6144,
    experts: qwenExperts(768),
  }),
  grouped({
    ...QWEN_3,
    name: 'qwen3-235b-a22b',
    layers: 94,
    hidden: 4096,
    heads: 64,
    kvHeads: 4,
    intermediate: 12_288,
    experts: qwenExperts(1536),
  }),
];

const MIXTURES: readonly ModelGeometry[] = [
  grouped({
    name: 'mixtral-8x7b',
    aliases: instruct('mixtral-8x7b', 'mixtral-8x7b-v0.1').concat('mixtral-8x7b-instruct-v0.1'),
    layers: 32,
    hidden: 4096,
    heads: 32,
    kvHeads: 8,
    headDim: 128,
    intermediate: 14_336,
    vocabulary: 32_000,
    maxContext: 32_768,
    experts: {
      experts: 8,
      activeExperts: 2,
      sharedExperts: 0,
      expertIntermediate: 14_336,
      denseLayers: 0,
    },
  }),
  // Weights of the gpt-oss experts are MXFP4, the rest BF16: 13.8 and 65.2 GB of checkpoint (model
  // cards).
  grouped({
    ...GPT_OSS,
    name: 'gpt-oss-20b',
    layers: 24,
    slidingWindow: gptOssWindow(24),
    experts: gptOssExperts(32),
    precision: MXFP4_EXPERTS,
  }),
  grouped({
    ...GPT_OSS,
    name: 'gpt-oss-120b',
    layers: 36,
    slidingWindow: gptOssWindow(36),
    experts: gptOssExperts(128),
    precision: MXFP4_EXPERTS,
  }),
  {
    name: 'deepseek-v3',
    aliases: ['deepseek-r1', 'deepseek-v3-0324', 'deepseek-r1-0528'],
    layers: 61,
    hidden: 7168,
    heads: 128,
    attention: {
      kind: 'latent',
      queryRank: 1536,
      kvRank: 512,
      nopeDim: 128,
      ropeDim: 64,
      valueDim: 128,
    },
    intermediate: 18_432,
    feedForwardMatrices: 3,
    experts: {
      experts: 256,
      activeExperts: 8,
      sharedExperts: 1,
      expertIntermediate: 2048,
      denseLayers: 3,
    },
    vocabulary: 129_280,
    tiedEmbeddings: false,
    precision: BLOCKWISE_FP8,
    maxContext: 163_840,
  },
];

const OLDER: readonly ModelGeometry[] = [
  grouped({
    ...OPT,
    name: 'opt-13b',
    layers: 40,
    hidden: 5120,
    heads: 40,
    kvHeads: 40,
    headDim: 128,
    intermediate: 20_480,
    maxContext: 2048,
  }),
  grouped({
    ...OPT,
    name: 'opt-66b',
    layers: 64,
    hidden: 9216,
    heads: 72,
    kvHeads: 72,
    headDim: 128,
    intermediate: 36_864,
    maxContext: 2048,
  }),
];

/**
 * The models known by shape. Source: the `config.json` that each publisher ships with the weights.
 * `maxContext` is what vLLM takes from there without rope scaling by hand.
 */
export const MODELS: readonly ModelGeometry[] = [...LLAMA, ...QWEN, ...MIXTURES, ...OLDER];

/** @throws HardwareError `unknown-name` */
export function findModel(name: string): ModelGeometry {
  return findByName('model', MODELS, name);
}
