import { checkPipelineParallel, type EnginePlacement } from './engine-placement';
import type { ModelGeometry } from './model/model-geometry';

/**
 * Layers of each pipeline stage, as vLLM's `get_pp_indices` (vllm/distributed/utils.py) spreads
 * them: evenly. Remaining layers go one each to the stage before the last, the one before that, and
 * so on. The last stage gets none of them, since it has the output head.
 */
export function pipelinePartition(layers: number, stages: number): number[] {
  const each = Math.floor(layers / stages);
  const left = layers - each * stages;
  return Array.from({ length: stages }, (_, stage) => {
    const fromEnd = stages - stage;
    return each + (fromEnd >= 2 && fromEnd < left + 2 ? 1 : 0);
  });
}

/**
 * The pipeline stages of an engine in order, each as a placement of its part of the model. With one
 * stage: the engine itself. Layers with a sliding window are assumed to be spread evenly over the
 * model; the dense layers of a mixture are its first.
 *
 * @throws HardwareError `bad-pipeline-parallel`
 */
export function stagesOf(placement: EnginePlacement): EnginePlacement[] {
  const { model, pp = 1 } = placement;
  checkPipelineParallel(placement);
  if (pp === 1 || model.stage !== undefined) return [placement];
  let start = 0;
  return pipelinePartition(model.layers, pp).map((layers, index) => {
    const stage = index === 0 ? 'first' : index === pp - 1 ? 'last' : 'middle';
    const own = { ...partOf(model, start, start + layers), stage } as const;
    start += layers;
    return { ...placement, model: own };
  });
}

/** The layers from `start` up to `end`, which is left out. */
function partOf(model: ModelGeometry, start: number, end: number): ModelGeometry {
  const { attention, experts } = model;
  const part = { ...model, layers: end - start };
  if (experts !== undefined) {
    const dense = Math.max(0, Math.min(end, experts.denseLayers) - start);
    part.experts = { ...experts, denseLayers: dense };
  }
  if (attention.kind === 'latent' || attention.slidingWindow === undefined) return part;
  const { layers } = attention.slidingWindow;
  const before = (layer: number) => Math.round((layer * layers) / model.layers);
  const slidingWindow = { ...attention.slidingWindow, layers: before(end) - before(start) };
  return { ...part, attention: { ...attention, slidingWindow } };
}
