import {
  type EnginePlacement,
  expertGroupOf,
  expertLayers,
  findLink,
  GPUS_PER_NODE,
  isFp8,
  type ModelGeometry,
} from '@baton/hardware';

/** The time of collectives in one step of T tokens: `fixedUs + usPerToken · T`. */
export interface CollectiveCost {
  readonly fixedUs: number;
  readonly usPerToken: number;
}

const ACTIVATION_BYTES = 2;
/** Tokens are sent to the experts, and their outputs back. */
const EXCHANGES_PER_LAYER = 2;
/**
 * Added to a collective that crosses nodes, as AIConfigurator's point-to-point transfers have it.
 */
const FABRIC_LATENCY_US = 10;

/**
 * All-reduces of the tensor-parallel group, one after attention and one after the feed-forward;
 * and, in layers of experts that several data-parallel ranks share, a dispatch and a combine in
 * place of the second. With a single rank vLLM exchanges nothing, expert-parallel or not: tokens
 * are on all GPUs anyway and the all-reduce adds the experts up.
 */
export function collectiveCostOf(placement: EnginePlacement): CollectiveCost {
  const { model, dp = 1 } = placement;
  const exchanging = dp > 1 ? expertLayers(model) : 0;
  const reduce = allReduceOf(placement);
  const exchange = exchanging > 0 ? exchangeOf(placement) : { fixedUs: 0, usPerToken: 0 };
  const reduces = 2 * model.layers - exchanging;
  return {
    fixedUs: reduces * reduce.fixedUs + exchanging * exchange.fixedUs,
    usPerToken: reduces * reduce.usPerToken + exchanging * exchange.usPerToken,
  };
}

/** A ring: each GPU sends and receives 2 (tp − 1)/tp of the activations. */
function allReduceOf({ model, gpu, tp }: EnginePlacement): CollectiveCost {
  if (tp === 1) return { fixedUs: 0, usPerToken: 0 };
  const ringBytes = ((2 * (tp - 1)) / tp) * model.hidden * ACTIVATION_BYTES;
  const { allReduceUs } = gpu.interconnect;
  return { fixedUs: allReduceUs, usPerToken: ringBytes / interconnectBytesPerUs(gpu) };
}

/**
 * Dispatch and combine of one layer. Copies within a node go over the interconnect, those to other
 * nodes over the fabric at the same time; the slower path decides.
 */
function exchangeOf(placement: EnginePlacement): CollectiveCost {
  const { gpu, fabric = findLink('infiniband-ndr') } = placement;
  const { near, far } = placement.expertParallel ? routed(placement) : gathered(placement);
  const bytes = bytesPerCopy(placement.model);
  const nearUs = (near * bytes) / interconnectBytesPerUs(gpu);
  const farUs = (far * bytes) / (fabric.bytesPerSecond / 1e6);
  const latencyUs = gpu.interconnect.allReduceUs + (far > 0 ? FABRIC_LATENCY_US : 0);
  return { fixedUs: EXCHANGES_PER_LAYER * latencyUs, usPerToken: Math.max(nearUs, farUs) };
}

/** Copies of each token of the engine that one of its GPUs sends, or hands on, by path. */
interface Copies {
  readonly near: number;
  readonly far: number;
}

/**
 * All to all: a token goes to each GPU that holds one of its k experts, at most k of them. It goes
 * to another node once and is forwarded there (DeepEP's kernels for large batches; those for low
 * latency send every copy over the fabric, which from k nodes on is the same).
 */
function routed(placement: EnginePlacement): Copies {
  const group = expertGroupOf(placement);
  const nodes = Math.ceil(group / GPUS_PER_NODE);
  const { activeExperts } = placement.model.experts!;
  const toOthersOf = (places: number) =>
    (Math.min(activeExperts, places) * (places - 1)) / places / placement.tp;
  return { near: toOthersOf(group), far: toOthersOf(nodes) };
}

/** All-gather and reduce-scatter: every token goes to every other rank. */
function gathered({ tp, dp = 1 }: EnginePlacement): Copies {
  const ranksPerNode = Math.min(dp, Math.max(1, Math.floor(GPUS_PER_NODE / tp)));
  return { near: ranksPerNode - 1, far: dp - ranksPerNode };
}

/** There and back. Activations of FP8 checkpoints are quantised before they are sent, not after. */
function bytesPerCopy({ hidden, precision }: ModelGeometry): number {
  const dispatchBytes = isFp8(precision) ? 1 : ACTIVATION_BYTES;
  return hidden * (dispatchBytes + ACTIVATION_BYTES);
}

function interconnectBytesPerUs({ interconnect }: EnginePlacement['gpu']): number {
  return (interconnect.bytesPerSecond * interconnect.allReduceEfficiency) / 1e6;
}
