import type { Stage } from '@baton/contract';
import type { EngineOptions, SchedulingPolicy } from '@baton/engine';
import { type Micros, msToUs } from '@baton/kernel';
import type { KvPoolTerms } from '@baton/kvcache';
import {
  engineGpus,
  type EnginePlacement,
  expertLayers,
  findLink,
  HardwareError,
  kvBytesPerBlock,
  kvBytesPerToken,
  kvCapacityBlocks,
  kvGroupsOf,
  layersPerBlock,
  type Link,
  linkFromTiming,
  NULL_BLOCKS,
} from '@baton/hardware';
import { OwnScheduling } from '@baton/policies';
import { buildStepTimeModel, type RangeGuard } from '@baton/step-time';
import { type BatonConfig, configForStage } from '../config';
import { isModulePath } from '../option';
import { ownPolicy } from '../own-policy-file';
import { UsageError } from '../usage-error';
import { asyncScheduling } from './async-scheduling';
import { vllmMinorOf } from './vllm-minor';
import { composedChoices } from './composed-choices';
import { guarded } from './extrapolation';
import { kvPoolOf } from './kv-pool-of';
import { mostAdapters } from './lora-modules';
import { operatorFiles } from './operator-files';
import { placementOf } from './placement-of';
import { promptsFirst } from './prompts-first';
import { refuseStages } from './pipeline-limits';
import { schedulerLimits } from './scheduler-limits';
import { servedNamesOf } from './served-names';
import { kvTimingFromFile } from './step-time-file';
import { stepNoise } from './step-noise';
import { stepTimeSpec } from './step-time-spec';

/** One port of an engine, and the number of ports that a transfer uses side by side. */
type EngineLink = Link & {
  readonly ports: number;
  /** True when the rate follows from a time per token: transfers take the time of their tokens. */
  readonly isTimedByTokens?: boolean;
};

/** The facts about the engines of one stage that follow from a configuration, for both clocks. */
export interface EngineSetup {
  readonly options: EngineOptions;
  /** The model's first name for clients. */
  readonly servedModelName: string;
  readonly tensorParallelSize: number;
  /** GPUs of one engine. */
  readonly gpus: number;
  /** Bytes of KV per prompt token that one rank sends over its own link. */
  readonly kvBytesPerToken: number;
  /** Bytes of a KV block on one rank, and the number of reads that fetch it. */
  readonly transferShape: { readonly bytesPerBlock: number; readonly descriptorsPerBlock: number };
  /** Times of the first contact and of a descriptor. Unset: 0. */
  readonly transferTimes?: { readonly handshakeUs: Micros; readonly descriptorUs: number };
  readonly link: EngineLink;
  /** The engine's part of the cluster's KV pool. Unset for an engine outside of a pool. */
  readonly kvPool?: KvPoolTerms;
  /** Number of data-parallel ranks that step together, >= 2. Unset: each rank steps by itself. */
  readonly lockstepRanks?: number;
  /**
   * Counts the steps of this engine that lie outside of the range of its step times, if they have
   * one.
   */
  readonly guard?: RangeGuard;
}

/**
 * Resolves model, GPU, link, KV capacity and step times for the engines of `stage`.
 *
 * @throws UsageError, one sentence, for unknown names, a model that does not fit, or an unreadable
 *   step-time file
 */
export function engineSetup(config: BatonConfig, stage: Stage): EngineSetup {
  try {
    refuseStages(config, stage);
    const own = configForStage(config, stage);
    return resolve(own, sourceTpOf(config, stage), stage);
  } catch (error) {
    if (error instanceof HardwareError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function resolve(config: BatonConfig, sourceTp: number, stage: Stage): EngineSetup {
  const placement = placementOf(config);
  const bytesPerToken = kvBytesPerToken(placement.model, placement.tp);
  const options = engineOptions(config, placement, stage);
  const link = linkOf(config, bytesPerToken);
  const kvPool = kvPoolOf(config, options, link);
  return {
    options,
    servedModelName: servedNamesOf(config)[0],
    tensorParallelSize: placement.tp,
    gpus: engineGpus(placement),
    kvBytesPerToken: bytesPerToken,
    transferShape: {
      bytesPerBlock: kvBytesPerBlock(placement.model, placement.tp, config.blockSize),
      descriptorsPerBlock: regionsPerBlock(placement) * ranksRead(placement, sourceTp),
    },
    ...transferTimesOf(config),
    link,
    ...(kvPool && { kvPool }),
    ...lockstepOf(placement),
  };
}

/**
 * The rule of vLLM: ranks of a mixture of experts exchange tokens in every layer, so they step
 * together. Ranks of a dense model share nothing.
 */
function lockstepOf({ model, dp = 1 }: EnginePlacement): Pick<EngineSetup, 'lockstepRanks'> {
  const steps = dp > 1 && expertLayers(model) > 0;
  return steps ? { lockstepRanks: dp } : {};
}

function transferTimesOf(config: BatonConfig): Pick<EngineSetup, 'transferTimes'> {
  const { kvHandshakeTime: handshakeMs, kvDescriptorTime: descriptorUs } = config;
  if (handshakeMs === 0 && descriptorUs === 0) return {};
  return { transferTimes: { handshakeUs: msToUs(handshakeMs), descriptorUs } };
}

/** GPUs per engine of the stage from which this stage fetches KV. */
function sourceTpOf(config: BatonConfig, stage: Stage): number {
  const source = stage === 'prefill' ? 'decode' : 'prefill';
  return configForStage(config, source).tensorParallelSize;
}

/**
 * Number of source ranks from which one rank reads its heads (`_read_blocks_for_req` of vLLM's
 * `nixl/pull_worker.py`): several when the source has more ranks, each with a part. When the source
 * has fewer, the rank reads a part of one. Each source rank has the whole latent vector.
 */
function ranksRead({ model, tp }: EnginePlacement, sourceTp: number): number {
  return model.attention.kind === 'latent' ? 1 : Math.max(1, Math.ceil(sourceTp / tp));
}

/**
 * Number of separate memory regions of a KV block, as vLLM's NIXL connector registers them: one per
 * layer for K and one for V. Latent attention has one vector for both.
 */
function regionsPerBlock({ model }: EnginePlacement): number {
  return layersPerBlock(model) * (model.attention.kind === 'latent' ? 1 : 2);
}

function engineOptions(
  config: BatonConfig,
  placement: EnginePlacement,
  stage: Stage,
): EngineOptions {
  const limits = schedulerLimits(config, placement.gpu);
  const { maxNumSeqs, maxNumBatchedTokens } = limits;
  if (maxNumBatchedTokens < maxNumSeqs) {
    throw new UsageError(
      `max_num_batched_tokens (${maxNumBatchedTokens}) must be at least max_num_seqs ` +
        `(${maxNumSeqs}).`,
    );
  }
  if (maxNumBatchedTokens <= config.numSpeculativeTokens) {
    throw new UsageError(
      `max_num_batched_tokens (${maxNumBatchedTokens}) must be above num_speculative_tokens ` +
        `(${config.numSpeculativeTokens}).`,
    );
  }
  const vllmMinor = vllmMinorOf(config);
  const capacity = { ...config, ...placement, ...limits, vllmMinor };
  const choices = composedChoices(config, placement);
  const steps = { ...stepTimeSpec(config), ...choices };
  const operators = operatorFiles({ own: config.operators });
  const stepTime = guarded(buildStepTimeModel(steps, placement, operators), config, stage);
  const kvGroups = kvGroupsOf(placement.model);
  const hasConnector = stage !== 'aggregated' || config.kvOffloadingSize > 0;
  const maxAdapters = mostAdapters(config);
  const gpuBlocks = config.numGpuBlocksOverride ?? kvCapacityBlocks(capacity);
  return {
    ...limits,
    numBlocks: gpuBlocks - NULL_BLOCKS,
    blockSize: config.blockSize,
    ...(kvGroups && { kvGroups }),
    maxModelLen: config.maxModelLen ?? placement.model.maxContext,
    longPrefillTokenThreshold: config.longPrefillTokenThreshold,
    enablePrefixCaching: config.enablePrefixCaching,
    evictionPolicy: config.evictionPolicy,
    ...hostTierOptions(config, placement),
    hasConnector,
    freesAtOnce: vllmMinor < DEFERRED_FREES_MINOR,
    globalCacheHitThreshold: config.globalCacheHitThreshold,
    enableChunkedPrefill: config.enableChunkedPrefill,
    ...(choices.framework === 'vllm' && {
      maxCudagraphCaptureSize: choices.cudaGraphSizes.at(-1) ?? 0,
    }),
    schedulingPolicy: buildScheduling(config, stage),
    sjfAgingTokensPerSecond: config.sjfAging,
    schedulerRecvInterval: config.schedulerRecvInterval,
    promptsFirst: promptsFirst(config, stage),
    schedulerReserveFullIsl: config.schedulerReserveFullIsl,
    watermarkBlocks: Math.floor(config.watermark * gpuBlocks),
    asyncScheduling: asyncScheduling(config),
    ...speculationOptions(config, hasConnector || vllmMinor < LOOKAHEAD_HASHES_MINOR),
    ...(maxAdapters === undefined ? {} : { maxAdapters }),
    stepTime,
    ...stepNoise(config, stepTime, placement.gpu),
    seed: config.seed,
    warmupPenaltyPercent: config.warmupPenalty,
    warmupSteps: config.warmupSteps,
  };
}

type Scheduling = EngineOptions['schedulingPolicy'];

function buildScheduling({ schedulingPolicy: named, seed }: BatonConfig, stage: Stage): Scheduling {
  if (!isModulePath(named)) return named;
  return new OwnScheduling(ownPolicy<SchedulingPolicy>(named, 'key'), { stage, seed });
}

function hostTierOptions(
  config: BatonConfig,
  { model, tp, pp = 1 }: EnginePlacement,
): Pick<EngineOptions, 'hostTier'> {
  const { kvOffloadingSize: gib, kvOffloadingBandwidth, blockSize } = config;
  if (gib === 0) return {};
  const bytesOfRanks = kvBytesPerToken(model, tp) * blockSize * tp;
  const blocks = Math.floor((gib * 2 ** 30) / bytesOfRanks);
  if (blocks === 0) {
    throw new UsageError(
      `kv_offloading_size (${gib} GiB) must hold at least one KV block, which takes ` +
        `${bytesOfRanks} bytes.`,
    );
  }
  // Every stage loads the part of its own layers at the same time.
  const bytesPerBlock = bytesOfRanks / (tp * pp);
  return { hostTier: { blocks, bytesPerBlock, bytesPerSecond: kvOffloadingBandwidth * 1e9 } };
}

/**
 * First version in which vLLM's hash of a block covers the token behind it, unless there is a KV
 * connector; nothing is dropped then (`VllmConfig.num_hash_lookahead_tokens`, seen in 0.33.0).
 */
const LOOKAHEAD_HASHES_MINOR = 33;

/**
 * First version that keeps the blocks of an ended sequence while a step in flight writes to them
 * (`defer_block_free`, vllm-project/vllm#45357: in the source of 0.24.0, not of 0.23).
 */
const DEFERRED_FREES_MINOR = 24;

/**
 * @param dropsHits  true when a drafter that reads the next token invalidates the last block of a
 * hit
 */
function speculationOptions(
  config: BatonConfig,
  dropsHits: boolean,
): Pick<EngineOptions, 'speculation'> {
  const { numSpeculativeTokens: tokens, speculativeAcceptanceRate: acceptanceRate } = config;
  const { speculativeMethod: method } = config;
  if (tokens === 0) return {};
  const speculation = { tokens, acceptanceRate, draftUs: config.speculativeDraftMs * 1_000 };
  if (method === 'ngram') return { speculation };
  const dropsLastHit = dropsHits && method !== 'draft_model';
  return { speculation: { ...speculation, lookaheadTokens: tokens, dropsLastHit } };
}

/** A time per token is that of the whole transfer, so such a link is one port. */
function linkOf(config: BatonConfig, bytesPerToken: number): EngineLink {
  const { kvCacheTransferLatency: latencyMs, kvCacheTransferTimePerToken: perTokenMs } = config;
  const isGiven = latencyMs !== undefined || perTokenMs !== undefined;
  const timing = isGiven ? { latencyMs, perTokenMs } : profiledTiming(config);
  if (timing === undefined) return { ...findLink(config.link), ports: config.tensorParallelSize };
  const own = linkFromTiming({ ...timing, kvBytesPerToken: bytesPerToken });
  return { ...own, ports: 1, isTimedByTokens: true };
}

/** Times of a transfer that the step-time file has beside its steps. */
function profiledTiming({ stepTime, stepTimeFile }: BatonConfig) {
  const isRead = stepTime === 'polynomial' || stepTime === 'auto';
  return isRead && stepTimeFile !== undefined ? kvTimingFromFile(stepTimeFile) : undefined;
}
