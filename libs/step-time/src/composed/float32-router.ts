import { elementwiseUs } from '../operators/system-facts';
import { PiecewiseLinear } from '../port/piecewise-linear';
import type { Linear, StepParts } from './step-parts';

/** Numbers of a token in the measurements below. */
const MEASURED_HIDDEN = 6_144;

/**
 * PyTorch's product of so many tokens with a router of 256 experts in 32 bits, µs: GB200
 * (https://github.com/vllm-project/vllm/pull/47973); from 2,048 tokens on GB300, as many results
 * over 128 experts (https://github.com/vllm-project/vllm/pull/55899).
 */
const HIGHEST = new PiecewiseLinear(
  [1, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 8_192],
  [7.52, 20.2, 16.7, 22.3, 63.2, 63.3, 69.3, 77.8, 96.8, 111, 174, 439],
);
/** Times of the router in TF32. */
const HIGH = new PiecewiseLinear(
  [1, 4, 8, 16, 32, 64, 128, 256, 512, 1_024],
  [10.9, 12, 12, 12.2, 19.9, 20.1, 20.2, 22.6, 25.8, 32.8],
);
/** vLLM's own kernel, which takes tokens in 16 bits; from the first of the two. */
const OWN = new PiecewiseLinear([1, 2, 4, 8, 16, 32], [1.96, 2.03, 2.21, 2.61, 3.88, 5.57]);
/** `fp32_router_gemm.cu` of v0.26.0 (https://github.com/vllm-project/vllm/issues/49921). */
const OWN_SINCE_MINOR = 26;
/** Reading a number of 16 bits and writing it in 32. */
const WIDENING_BYTES = 6;

/**
 * A router in 32 bits of one layer, µs by tokens: widening the tokens, and the product, whose time
 * grows with the numbers of a token. The measurements are of Blackwell; Hopper runs the same kernel
 * on as many cores at nearly the same clock, and takes the same times.
 */
export function float32Router(parts: StepParts): Linear {
  const { hidden } = parts.placement.model;
  const share = hidden / MEASURED_HIDDEN;
  const product = parts.float32 === 'high' ? HIGH : HIGHEST;
  const hasOwn = parts.framework === 'vllm' && parts.vllmMinor >= OWN_SINCE_MINOR;
  return (tokens) => {
    if (hasOwn && tokens <= OWN.lastX) return share * OWN.at(tokens);
    const widening = elementwiseUs(parts.tables.system, WIDENING_BYTES * hidden * tokens);
    return share * product.at(tokens) + widening;
  };
}
