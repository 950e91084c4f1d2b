import type { EnginePlacement } from '../engine-placement';
import type { Gpu } from '../gpu/gpu';
import type { ModelGeometry } from '../model/model-geometry';
import { WEIGHT_BYTES } from '../model/precision';

/** Step of the inputs of values, and of the outputs of scales, of triton_kernels on Hopper. */
const HOPPER_STEP = 256;
/** `Mxfp4MoEMethod.create_weights` of vLLM, for triton_kernels. */
const TRITON_WIDTH = 64;
const SCALE_BYTES = 1 / 32;
const VALUE_BYTES = WEIGHT_BYTES.mxfp4 - SCALE_BYTES;

/** Multiples to which experts in MXFP4 are padded: hidden size, and width of an expert on a GPU. */
interface Multiples {
  readonly hidden: number;
  readonly width: number;
}

/** Marlin takes outputs in steps of 256 and inputs in steps of 128. */
const MARLIN: Multiples = { hidden: 256, width: 128 };
/** FlashInfer's kernels on B200 and similar GPUs, and those of ROCm. */
const WIDE: Multiples = { hidden: 256, width: 256 };

/**
 * Memory of the experts relative to their weights, >= 1. MXFP4 is padded to the size of a GPU's
 * kernel (`create_weights` of vLLM's quantization/mxfp4.py; on Hopper `swizzle_data` of
 * triton_kernels' `HopperMXValueLayout` and `HopperMXScaleLayout`): the 2,880 of gpt-oss become
 * 3,072 or 2,944. Other formats have no padding.
 */
export function expertPadding({ model, gpu, tp, dp = 1, ...rest }: EnginePlacement): number {
  const { experts, hidden } = model;
  if (!experts || model.precision.experts !== 'mxfp4') return 1;
  const width = experts.expertIntermediate / (rest.expertParallel ? 1 : tp * dp);
  const plain = 3 * hidden * width * WEIGHT_BYTES.mxfp4;
  return paddedBytes(gpu, { hidden, width }) / plain;
}

/**
 * Hidden size of the input of experts. It is wider than the hidden size of the model where vLLM
 * stores MXFP4 in padded weights. On Hopper the kernel itself pads.
 */
export function expertHidden({ experts, hidden, precision }: ModelGeometry, gpu: Gpu): number {
  const isPadded = experts !== undefined && precision.experts === 'mxfp4' && !isHopper(gpu);
  return isPadded ? upTo(multiplesOf(gpu).hidden, hidden) : hidden;
}

/** Bytes of the gate, up and down matrices of one expert on one GPU. */
function paddedBytes(gpu: Gpu, { hidden, width }: Multiples): number {
  if (isHopper(gpu)) {
    const own = upTo(TRITON_WIDTH, width);
    return hopperBytes(2 * own, hidden) + hopperBytes(hidden, own);
  }
  const multiples = multiplesOf(gpu);
  return 3 * upTo(multiples.hidden, hidden) * upTo(multiples.width, width) * WEIGHT_BYTES.mxfp4;
}

function hopperBytes(outputs: number, inputs: number): number {
  const values = outputs * upTo(HOPPER_STEP, inputs) * VALUE_BYTES;
  return values + upTo(HOPPER_STEP, outputs) * inputs * SCALE_BYTES;
}

function multiplesOf({ name }: Gpu): Multiples {
  return /^(g?b[23]00|mi3)/.test(name) ? WIDE : MARLIN;
}

function isHopper({ name }: Gpu): boolean {
  return /^h\d/.test(name);
}

function upTo(multiple: number, value: number): number {
  return Math.ceil(value / multiple) * multiple;
}
