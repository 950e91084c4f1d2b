import { type EnginePlacement, expertLayers, type Gpu } from '@baton/hardware';
import type { Framework } from './framework';

/**
 * A step of one prompt token of DeepSeek-V3 and its 61 layers took 82.6 ms where SGLang launched
 * kernel by kernel, and 23.1 ms in a CUDA graph (https://github.com/sgl-project/sglang/pull/12160).
 */
const LATENT_LAYER_US = 82_641 / 61;

/**
 * How many times longer Grace takes to launch than the hosts of other GPUs: PyTorch's linear layer
 * took 37.08 µs of a CPU in GB200 and 13.48 in a DGX H100
 * (https://github.com/NVIDIA/TransformerEngine/issues/2053).
 */
const GRACE = 37.08 / 13.48;

/**
 * Least time of a step with prompts, µs: launching its kernels one by one, while the GPU waits.
 * SGLang does so with prompts of any length, up to 0.5.10 at least. Known for mixtures with latent
 * attention alone; 0 for everything else, of which no source has it.
 */
export function launchFloorUs({ model, gpu }: EnginePlacement, framework: Framework): number {
  const isKnown = model.attention.kind === 'latent' && expertLayers(model) > 0;
  if (framework !== 'sglang' || !isKnown) return 0;
  return model.layers * LATENT_LAYER_US * (isOfGrace(gpu) ? GRACE : 1);
}

function isOfGrace({ name }: Gpu): boolean {
  return /^g[bh]\d/.test(name);
}
