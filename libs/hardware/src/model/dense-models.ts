import { grouped, instruct } from './grouped-model';
import type { ModelGeometry } from './model-geometry';

const QWEN_2 = { kvHeads: 8, headDim: 128, vocabulary: 152_064, maxContext: 32_768 } as const;
const SMALL_QWEN_2 = { vocabulary: 151_936, tiedEmbeddings: true } as const;
const GEMMA_3 = { vocabulary: 262_208, tiedEmbeddings: true, qkNorm: true } as const;

/** In Gemma 3, five layers attend to 1,024 tokens and every sixth to the whole context. */
const gemma3Window = (layers: number) => ({
  tokens: 1024,
  layers: layers - Math.floor(layers / 6),
});

const qwen = (size: string, ...others: string[]): string[] =>
  instruct(`qwen2.5-${size}`, `qwen2-${size}`).concat(others);

/** Qwen 2.5 and the models distilled into it. */
export const QWEN_2_MODELS: readonly ModelGeometry[] = [
  grouped({
    ...{ ...QWEN_2, ...SMALL_QWEN_2, name: 'qwen2.5-0.5b', aliases: qwen('0.5b') },
    ...{ layers: 24, hidden: 896, heads: 14, kvHeads: 2, headDim: 64, intermediate: 4864 },
  }),
  grouped({
    ...{ ...QWEN_2, ...SMALL_QWEN_2, name: 'qwen2.5-1.5b', aliases: qwen('1.5b') },
    ...{ layers: 28, hidden: 1536, heads: 12, kvHeads: 2, intermediate: 8960 },
  }),
  grouped({
    ...{ ...QWEN_2, ...SMALL_QWEN_2, name: 'qwen2.5-3b', aliases: qwen('3b') },
    ...{ layers: 36, hidden: 2048, heads: 16, kvHeads: 2, intermediate: 11_008 },
  }),
  grouped({
    ...{ ...QWEN_2, name: 'qwen2.5-7b', aliases: qwen('7b', 'deepseek-r1-distill-qwen-7b') },
    ...{ layers: 28, hidden: 3584, heads: 28, kvHeads: 4, intermediate: 18_944 },
  }),
  grouped({
    ...{ ...QWEN_2, name: 'qwen2.5-14b', aliases: qwen('14b', 'deepseek-r1-distill-qwen-14b') },
    ...{ layers: 48, hidden: 5120, heads: 40, intermediate: 13_824 },
  }),
  grouped({
    ...{ ...QWEN_2, name: 'qwen2.5-32b' },
    aliases: qwen('32b', 'qwq-32b', 'qwen2.5-coder-32b', 'deepseek-r1-distill-qwen-32b'),
    ...{ layers: 64, hidden: 5120, heads: 40, intermediate: 27_648 },
  }),
  grouped({
    ...{ ...QWEN_2, name: 'qwen2.5-72b', aliases: qwen('72b') },
    ...{ layers: 80, hidden: 8192, heads: 64, intermediate: 29_568 },
  }),
];

export const MISTRAL_MODELS: readonly ModelGeometry[] = [
  grouped({
    name: 'mistral-7b',
    aliases: instruct('mistral-7b-v0.3').concat('mistral-7b-instruct', 'mistral-7b-instruct-v0.3'),
    ...{ layers: 32, hidden: 4096, heads: 32, kvHeads: 8, headDim: 128, intermediate: 14_336 },
    ...{ vocabulary: 32_768, maxContext: 32_768 },
  }),
  grouped({
    name: 'mistral-nemo-12b',
    aliases: ['mistral-nemo', 'mistral-nemo-instruct-2407', 'mistral-nemo-base-2407'],
    ...{ layers: 40, hidden: 5120, heads: 32, kvHeads: 8, headDim: 128, intermediate: 14_336 },
    ...{ vocabulary: 131_072, maxContext: 131_072 },
  }),
  grouped({
    name: 'mistral-small-24b',
    aliases: [
      ...['mistral-small', 'mistral-small-24b-instruct-2501', 'devstral-small-2507'],
      ...['mistral-small-3.1-24b-instruct-2503', 'mistral-small-3.2-24b-instruct-2506'],
    ],
    ...{ layers: 40, hidden: 5120, heads: 32, kvHeads: 8, headDim: 128, intermediate: 32_768 },
    ...{ vocabulary: 131_072, maxContext: 131_072 },
  }),
  grouped({
    name: 'mistral-large-123b',
    aliases: ['mistral-large', 'mistral-large-instruct-2407', 'mistral-large-instruct-2411'],
    ...{ layers: 88, hidden: 12_288, heads: 96, kvHeads: 8, headDim: 128, intermediate: 28_672 },
    ...{ vocabulary: 32_768, maxContext: 131_072 },
  }),
];

/** Gemma, Phi and Llama 2. */
export const OTHER_DENSE_MODELS: readonly ModelGeometry[] = [
  grouped({
    ...{ name: 'gemma-2-9b', aliases: ['gemma-2-9b-it'], tiedEmbeddings: true },
    ...{ layers: 42, hidden: 3584, heads: 16, kvHeads: 8, headDim: 256, intermediate: 14_336 },
    ...{ vocabulary: 256_000, maxContext: 8192, slidingWindow: { tokens: 4096, layers: 21 } },
  }),
  grouped({
    ...{ name: 'gemma-2-27b', aliases: ['gemma-2-27b-it'], tiedEmbeddings: true },
    ...{ layers: 46, hidden: 4608, heads: 32, kvHeads: 16, headDim: 128, intermediate: 36_864 },
    ...{ vocabulary: 256_000, maxContext: 8192, slidingWindow: { tokens: 4096, layers: 23 } },
  }),
  grouped({
    ...{ ...GEMMA_3, name: 'gemma-3-4b', aliases: ['gemma-3-4b-it'] },
    ...{ layers: 34, hidden: 2560, heads: 8, kvHeads: 4, headDim: 256, intermediate: 10_240 },
    ...{ maxContext: 131_072, slidingWindow: gemma3Window(34) },
  }),
  grouped({
    ...{ ...GEMMA_3, name: 'gemma-3-12b', aliases: ['gemma-3-12b-it'] },
    ...{ layers: 48, hidden: 3840, heads: 16, kvHeads: 8, headDim: 256, intermediate: 15_360 },
    ...{ maxContext: 131_072, slidingWindow: gemma3Window(48) },
  }),
  grouped({
    ...{ ...GEMMA_3, name: 'gemma-3-27b', aliases: ['gemma-3-27b-it'] },
    ...{ layers: 62, hidden: 5376, heads: 32, kvHeads: 16, headDim: 128, intermediate: 21_504 },
    ...{ maxContext: 131_072, slidingWindow: gemma3Window(62) },
  }),
  grouped({
    ...{ name: 'phi-4', aliases: ['phi-4-14b', 'phi-4-reasoning'] },
    ...{ layers: 40, hidden: 5120, heads: 40, kvHeads: 10, headDim: 128, intermediate: 17_920 },
    ...{ vocabulary: 100_352, maxContext: 16_384 },
  }),
  grouped({
    ...{ name: 'llama-2-7b', aliases: ['llama-2-7b-hf', 'llama-2-7b-chat-hf', 'llama2-7b'] },
    ...{ layers: 32, hidden: 4096, heads: 32, kvHeads: 32, headDim: 128, intermediate: 11_008 },
    ...{ vocabulary: 32_000, maxContext: 4096 },
  }),
  grouped({
    ...{ name: 'llama-2-13b', aliases: ['llama-2-13b-hf', 'llama-2-13b-chat-hf', 'llama2-13b'] },
    ...{ layers: 40, hidden: 5120, heads: 40, kvHeads: 40, headDim: 128, intermediate: 13_824 },
    ...{ vocabulary: 32_000, maxContext: 4096 },
  }),
];
