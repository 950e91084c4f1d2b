import { grouped } from './grouped-model';
import type { LatentAttention, MixtureOfExperts, ModelGeometry } from './model-geometry';
import { DEEPSEEK_NVFP4, KIMI_NVFP4 } from './nvfp4-layers';
import { BF16, type Precision } from './precision';

const MXFP4_EXPERTS: Precision = { ...BF16, linear: 'mxfp4', experts: 'mxfp4' };
const BLOCKWISE_FP8: Precision = { ...BF16, linear: 'fp8_block', experts: 'fp8_block' };
const INT4_EXPERTS: Precision = { ...BF16, experts: 'int4_group32' };

/** Experts of all layers, none shared. */
const routed = (experts: number, activeExperts: number, expertIntermediate: number) => ({
  experts,
  activeExperts,
  expertIntermediate,
  sharedExperts: 0,
  denseLayers: 0,
});

const GPT_OSS = {
  hidden: 2880,
  heads: 64,
  kvHeads: 8,
  headDim: 64,
  intermediate: 2880,
  vocabulary: 201_088,
  maxContext: 131_072,
  precision: MXFP4_EXPERTS,
} as const;

/** Every second layer of gpt-oss attends to 128 tokens. */
const gptOssWindow = (layers: number) => ({ tokens: 128, layers: layers / 2 });

const DEEPSEEK_ATTENTION: LatentAttention = {
  kind: 'latent',
  queryRank: 1536,
  kvRank: 512,
  nopeDim: 128,
  ropeDim: 64,
  valueDim: 128,
};

const DEEPSEEK_EXPERTS: MixtureOfExperts = {
  experts: 256,
  activeExperts: 8,
  sharedExperts: 1,
  expertIntermediate: 2048,
  denseLayers: 3,
};

const DEEPSEEK = {
  layers: 61,
  hidden: 7168,
  attention: DEEPSEEK_ATTENTION,
  intermediate: 18_432,
  feedForwardMatrices: 3 as const,
  tiedEmbeddings: false,
  precision: BLOCKWISE_FP8,
};

/** Kimi K2 is DeepSeek-V3 with more experts, and fewer heads. */
const KIMI = {
  ...DEEPSEEK,
  heads: 64,
  vocabulary: 163_840,
  nvfp4Layers: KIMI_NVFP4,
  experts: { ...DEEPSEEK_EXPERTS, experts: 384, denseLayers: 1 },
} as const;

const QWEN_3 = { headDim: 128, qkNorm: true, vocabulary: 151_936 } as const;
const LLAMA_4 = {
  layers: 48,
  hidden: 5120,
  heads: 40,
  kvHeads: 8,
  headDim: 128,
  vocabulary: 202_048,
  // Three of four layers attend to 8,192 tokens. A context beyond a million exceeds the memory of a
  // GPU.
  slidingWindow: { tokens: 8192, layers: 36, isChunked: true },
  maxContext: 1_048_576,
} as const;

/** Mixtures of experts of the catalogue. Expert weights of gpt-oss are MXFP4, the rest BF16. */
export const MIXTURE_MODELS: readonly ModelGeometry[] = [
  grouped({
    ...QWEN_3,
    name: 'qwen3-30b-a3b',
    aliases: ['qwen3-30b-a3b-instruct-2507', 'qwen3-coder-30b-a3b-instruct'],
    layers: 48,
    hidden: 2048,
    heads: 32,
    kvHeads: 4,
    intermediate: 6144,
    maxContext: 40_960,
    experts: routed(128, 8, 768),
  }),
  grouped({
    ...QWEN_3,
    name: 'qwen3-235b-a22b',
    aliases: ['qwen3-235b-a22b-instruct-2507'],
    layers: 94,
    hidden: 4096,
    heads: 64,
    kvHeads: 4,
    intermediate: 12_288,
    maxContext: 40_960,
    experts: routed(128, 8, 1536),
  }),
  grouped({
    ...QWEN_3,
    name: 'qwen3-coder-480b-a35b',
    aliases: ['qwen3-coder-480b-a35b-instruct'],
    layers: 62,
    hidden: 6144,
    heads: 96,
    kvHeads: 8,
    intermediate: 8192,
    maxContext: 262_144,
    experts: routed(160, 8, 2560),
  }),
  grouped({
    name: 'mixtral-8x7b',
    aliases: [
      ...['mixtral-8x7b-instruct', 'mixtral-8x7b-v0.1', 'mixtral-8x7b-v0.1-instruct'],
      'mixtral-8x7b-instruct-v0.1',
    ],
    layers: 32,
    hidden: 4096,
    heads: 32,
    kvHeads: 8,
    headDim: 128,
    intermediate: 14_336,
    vocabulary: 32_000,
    maxContext: 32_768,
    experts: routed(8, 2, 14_336),
  }),
  grouped({
    name: 'mixtral-8x22b',
    aliases: ['mixtral-8x22b-v0.1', 'mixtral-8x22b-instruct-v0.1'],
    layers: 56,
    hidden: 6144,
    heads: 48,
    kvHeads: 8,
    headDim: 128,
    intermediate: 16_384,
    vocabulary: 32_768,
    maxContext: 65_536,
    experts: routed(8, 2, 16_384),
  }),
  grouped({
    ...GPT_OSS,
    name: 'gpt-oss-20b',
    layers: 24,
    slidingWindow: gptOssWindow(24),
    experts: routed(32, 4, 2880),
  }),
  grouped({
    ...GPT_OSS,
    name: 'gpt-oss-120b',
    layers: 36,
    slidingWindow: gptOssWindow(36),
    experts: routed(128, 4, 2880),
  }),
  {
    ...DEEPSEEK,
    name: 'deepseek-v3',
    aliases: [
      ...['deepseek-r1', 'deepseek-v3-0324', 'deepseek-r1-0528', 'deepseek-v3.1'],
      ...['deepseek-v3.1-terminus'],
    ],
    heads: 128,
    experts: DEEPSEEK_EXPERTS,
    vocabulary: 129_280,
    maxContext: 163_840,
    nvfp4Layers: DEEPSEEK_NVFP4,
  },
  {
    ...KIMI,
    name: 'kimi-k2',
    aliases: ['kimi-k2-instruct', 'kimi-k2-instruct-0905'],
    maxContext: 131_072,
  },
  {
    ...KIMI,
    name: 'kimi-k2.5',
    aliases: ['kimi-k2-thinking', 'kimi-k2.6'],
    // Routed experts in INT4 by groups of 32, all else in BF16 (`ignore` of its config.json).
    precision: INT4_EXPERTS,
    maxContext: 262_144,
  },
  grouped({
    name: 'minimax-m2',
    aliases: ['minimax-m2.1', 'minimax-m2.5'],
    qkNorm: 'across heads',
    layers: 62,
    hidden: 3072,
    heads: 48,
    kvHeads: 8,
    headDim: 128,
    intermediate: 1536,
    vocabulary: 200_064,
    maxContext: 196_608,
    precision: BLOCKWISE_FP8,
    experts: { ...routed(256, 8, 1536), isRouterFloat32: true },
  }),
  grouped({
    name: 'glm-4.5',
    aliases: ['glm-4.6'],
    qkNorm: true,
    layers: 92,
    hidden: 5120,
    heads: 96,
    kvHeads: 8,
    headDim: 128,
    intermediate: 12_288,
    vocabulary: 151_552,
    maxContext: 131_072,
    experts: { ...routed(160, 8, 1536), sharedExperts: 1, denseLayers: 3 },
  }),
  grouped({
    name: 'glm-4.5-air',
    layers: 46,
    hidden: 4096,
    heads: 96,
    kvHeads: 8,
    headDim: 128,
    intermediate: 10_944,
    vocabulary: 151_552,
    maxContext: 131_072,
    experts: { ...routed(128, 8, 1408), sharedExperts: 1, denseLayers: 1 },
  }),
  grouped({
    ...LLAMA_4,
    name: 'llama-4-scout-17b-16e',
    aliases: ['llama-4-scout', 'llama-4-scout-17b-16e-instruct'],
    intermediate: 16_384,
    experts: { ...routed(16, 1, 8192), sharedExperts: 1 },
  }),
  grouped({
    ...LLAMA_4,
    name: 'llama-4-maverick-17b-128e',
    aliases: ['llama-4-maverick', 'llama-4-maverick-17b-128e-instruct'],
    intermediate: 16_384,
    // Every second layer is dense.
    experts: { ...routed(128, 1, 8192), sharedExperts: 1, denseLayers: 24 },
  }),
];
