import type { Stage } from '@baton/contract';
import { layoutOfEngine } from '@baton/engine';
import { HardwareError, kvGroupsOf, type ModelGeometry, servedIn } from '@baton/hardware';
import { type BatonConfig, configForStage } from '../config';
import { UsageError } from '../usage-error';
import { asyncScheduling } from './async-scheduling';
import { gpuOf } from './gpu-of';
import { modelOf } from './model-of';
import { schedulerLimits } from './scheduler-limits';

/** The number of KV blocks of a sequence in the engines of a stage. */
export type KvLayoutOfStage = NonNullable<ReturnType<typeof newLayout>>;

const known = new WeakMap<BatonConfig, Map<Stage, KvLayoutOfStage | undefined>>();

/**
 * The number of KV blocks of a sequence in the engines of `stage`. Undefined when one block holds
 * `block_size` tokens of all layers, and for a model of a server that is not in the catalogue. The
 * model is looked up once per configuration.
 */
export function kvLayoutOf(config: BatonConfig, stage: Stage): KvLayoutOfStage | undefined {
  const stages = known.get(config) ?? new Map<Stage, KvLayoutOfStage | undefined>();
  known.set(config, stages);
  if (!stages.has(stage)) stages.set(stage, newLayout(config, stage));
  return stages.get(stage);
}

function newLayout(config: BatonConfig, stage: Stage) {
  const own = configForStage(config, stage);
  const model = servedModel(own);
  const kvGroups = model && kvGroupsOf(model);
  if (kvGroups === undefined) return undefined;
  const { blockSize, enableChunkedPrefill, pipelineParallelSize } = own;
  const { maxNumBatchedTokens } = schedulerLimits(own, gpuOf(own.gpu));
  const sizes = { blockSize, kvGroups, enableChunkedPrefill, maxNumBatchedTokens };
  return layoutOfEngine({ ...sizes, asyncScheduling: asyncScheduling(own) }, pipelineParallelSize);
}

function servedModel(config: BatonConfig): ModelGeometry | undefined {
  try {
    return servedIn(modelOf(config.model, config.acceptUnknownConfig), gpuOf(config.gpu), config);
  } catch (error) {
    if (error instanceof HardwareError || error instanceof UsageError) return undefined;
    throw error;
  }
}
