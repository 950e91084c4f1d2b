import { findByName } from '../find-by-name';
import { MISTRAL_MODELS, OTHER_DENSE_MODELS, QWEN_2_MODELS } from './dense-models';
import { grouped, instruct } from './grouped-model';
import { MIXTURE_MODELS } from './mixture-models';
import type { ModelGeometry } from './model-geometry';

const LLAMA_3 = { kvHeads: 8, headDim: 128, vocabulary: 128_256, maxContext: 131_072 } as const;
const LLAMA_70B = { layers: 80, hidden: 8192, heads: 64, intermediate: 28_672 } as const;
const QWEN_3 = {
  kvHeads: 8,
  headDim: 128,
  qkNorm: true,
  vocabulary: 151_936,
  maxContext: 40_960,
} as const;
const OPT = { feedForwardMatrices: 2, tiedEmbeddings: true, vocabulary: 50_272 } as const;
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
    aliases: instruct('llama-3.1-8b', 'meta-llama-3.1-8b', 'llama3.1-8b').concat(
      'deepseek-r1-distill-llama-8b',
    ),
    layers: 32,
    hidden: 4096,
    heads: 32,
    intermediate: 14_336,
  }),
  grouped({
    ...LLAMA_3,
    ...LLAMA_70B,
    name: 'llama-3.1-70b',
    aliases: instruct('llama-3.1-70b', 'meta-llama-3.1-70b', 'llama-3.3-70b').concat(
      'deepseek-r1-distill-llama-70b',
    ),
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
    name: 'qwen3-1.7b',
    layers: 28,
    hidden: 2048,
    heads: 16,
    intermediate: 6144,
    tiedEmbeddings: true,
  }),
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
 * The models of the catalogue. Source: the `config.json` that each publisher ships with the
 * weights. `maxContext` is vLLM's value from that file, without manual rope scaling.
 */
export const MODELS: readonly ModelGeometry[] = [
  ...[...LLAMA, ...QWEN, ...QWEN_2_MODELS, ...MISTRAL_MODELS],
  ...[...MIXTURE_MODELS, ...OTHER_DENSE_MODELS, ...OLDER],
];

/** @throws HardwareError `unknown-name` */
export function findModel(name: string): ModelGeometry {
  return findByName('model', MODELS, name);
}
