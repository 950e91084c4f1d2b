import { type EnginePlacement, findLink, GPUS_PER_NODE } from '@baton/hardware';

/** Sending activations of T tokens to the next pipeline stage takes `fixedUs + usPerToken · T`. */
export interface StageHop {
  readonly fixedUs: number;
  readonly usPerToken: number;
}

const ACTIVATION_BYTES = 2;
/** vLLM sends the hidden state and the residual (`IntermediateTensors`). */
const TENSORS = 2;
/** `p2p_latency` of every system in AIConfigurator's systems.json. */
const LATENCY_US = 10;

/**
 * The hop from stage `from` of an engine to the next one. Each of the tp GPUs of a stage sends its
 * share of every token to its counterpart, which gathers the other shares from its neighbours
 * (`send_tensor_dict` of vllm/distributed/parallel_state.py): so each GPU receives 1/tp of the
 * bytes from its counterpart and the rest over the interconnect. Stages fill nodes in order; a hop
 * to another node goes over the fabric. Within a node the rate is the part of the interconnect that
 * an all-reduce reaches: on H100 320 GB/s, where APEX+ measured 354 of a send and receive.
 *
 * @param reach  GPUs that reach each other over the interconnect
 */
export function hopFrom(from: number, placement: EnginePlacement, reach = GPUS_PER_NODE): StageHop {
  const { model, gpu, tp, fabric = findLink('infiniband-ndr') } = placement;
  const { bytesPerSecond, allReduceEfficiency } = gpu.interconnect;
  const bytes = TENSORS * model.hidden * ACTIVATION_BYTES;
  const nearUs = (1e6 * bytes) / (bytesPerSecond * allReduceEfficiency);
  const nodeOf = (stage: number) => Math.floor((stage * tp) / reach);
  if (nodeOf(from) === nodeOf(from + 1)) return { fixedUs: LATENCY_US, usPerToken: nearUs };
  const farUs = (1e6 * bytes) / fabric.bytesPerSecond;
  return { fixedUs: LATENCY_US, usPerToken: (farUs + (tp - 1) * nearUs) / tp };
}
