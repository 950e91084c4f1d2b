import { type ClusterScenario, type EnginePool, enginePool } from '@baton/simulation';
import { operatorFiles } from '@baton/config';
import { VLLM_FRONT_END, buildStepTimeModel, type Framework } from '@baton/step-time';
import {
  cudaGraphSizes,
  type EnginePlacement,
  expertLayers,
  kvBytesPerBlock,
  kvBytesPerToken,
  kvCapacityBlocks,
  kvGroupsOf,
  NULL_BLOCKS,
  schedulerDefaults,
  type SchedulerDefaults,
} from '@baton/hardware';
import type { EngineRole } from '@baton/policies';
import type { Workload } from '@baton/workload';
import { aggregatedScenario } from '../one-engine';
import type { ServingEngines, ServingPoint } from './serving-point';

const BLOCK_TOKENS = 16;
const PADDING_BLOCKS = 1;
/** InfiniBand NDR, 400 Gbit/s per GPU, the link of the racks and nodes of these measurements. */
const LINK = { bytesPerSecond: 50e9, baseLatencyUs: 100 } as const;

export interface ServingScenario {
  readonly scenario: ClusterScenario;
  /** The origin of the step times. */
  readonly method: string;
}

/**
 * Dynamo's front end in front of both pools: it tokenises a prompt once and sends tokens to prefill
 * and, when prefill has answered, to decode
 * (https://docs.nvidia.com/dynamo/v-0-9-1/design-docs/architecture-flow). Its times are vLLM's.
 */
const DYNAMO_FRONT_END = { ...VLLM_FRONT_END, name: 'dynamo', dispatch: 'concurrent' } as const;

/**
 * `--router-mode`, in none of the recipes:
 * https://docs.nvidia.com/dynamo/v1.2.0/user-guides/kv-cache-aware-routing.
 */
const DYNAMO_POLICY = { kind: 'round-robin' } as const;

/**
 * One of the engines with its share of the clients behind the default front end of `baton replay`,
 * for every framework, or both pools with all of them behind Dynamo.
 *
 * @throws HardwareError for a model that does not fit
 */
export function servingScenario(point: ServingPoint, workload: Workload): ServingScenario {
  const { disaggregated } = point;
  const decode = poolOf(point, disaggregated ? 'decode' : 'aggregated', point.engines);
  const base = aggregatedScenario(workload, decode.options);
  const method = decode.options.stepTime.method ?? 'given';
  if (disaggregated === undefined) {
    const { dataParallel } = decode;
    const pools = base.pools.map((pool) =>
      enginePool({ ...pool, count: dataParallel?.size ?? 1, dataParallel }),
    );
    return { scenario: { ...base, pools, frontEnd: VLLM_FRONT_END }, method };
  }
  const prefill = poolOf(point, 'prefill', disaggregated.prefill);
  const pools = [prefill, decode].map((own) => pooled(base.pools[0]!, own));
  const placement = { ...base.placement, prefill: DYNAMO_POLICY, decode: DYNAMO_POLICY };
  return { scenario: { ...base, pools, placement, frontEnd: DYNAMO_FRONT_END }, method };
}

/**
 * Number of data-parallel ranks that step together. Undefined: each steps by itself, also in
 * TensorRT-LLM: InferenceX's scripts align its prompts (`attention_dp_config.enable_balance`),
 * which is not modelled.
 */
export function lockstepRanksOf(
  { model, dp = 1 }: EnginePlacement,
  framework: Framework,
): number | undefined {
  return dp > 1 && expertLayers(model) > 0 && framework !== 'trtllm' ? dp : undefined;
}

interface Pool {
  readonly role: EngineRole;
  readonly dataParallel: EnginePool['dataParallel'];
  readonly count: number;
  readonly gpus: number;
  readonly kvBytesPerToken: number;
  readonly transferShape: NonNullable<EnginePool['transferShape']>;
  readonly options: Parameters<typeof aggregatedScenario>[1];
}

function poolOf(point: ServingPoint, role: EngineRole, engines: ServingEngines): Pool {
  const { placement, count } = engines;
  const { framework, script } = point;
  const vllmMinor = framework === 'vllm' ? point.vllmMinor : undefined;
  const { gpuMemoryUtilization = 0.9, schedulerRecvInterval = 1 } = script;
  const limits = limitsOf(point, role, placement);
  const spec = stepTimeSpec(point, { ...placement, ...limits });
  const stepTime = buildStepTimeModel(spec, placement, operatorFiles());
  const memory = { ...placement, ...limits, gpuMemoryUtilization, vllmMinor };
  const numBlocks =
    kvCapacityBlocks({ ...memory, blockSize: BLOCK_TOKENS }) - reservedBlocksOf(framework);
  const kvGroups = kvGroupsOf(placement.model);
  const hasConnector = framework === 'vllm' && role !== 'aggregated';
  const promptsFirst = framework === 'sglang' && role === 'aggregated' && script.isMixed !== true;
  const enableChunkedPrefill = script.isWhole !== true;
  const scheduling = { schedulerRecvInterval, promptsFirst, enableChunkedPrefill };
  const graphs = framework === 'vllm' && {
    maxCudagraphCaptureSize: spec.cudaGraphSizes.at(-1) ?? 0,
  };
  const own = { stepTime, numBlocks, hasConnector, ...scheduling, ...graphs };
  const options = { ...own, ...limits, ...(kvGroups && { kvGroups }) };
  const size = lockstepRanksOf(placement, framework);
  const bytesPerBlock = kvBytesPerBlock(placement.model, placement.tp, BLOCK_TOKENS);
  return {
    role,
    count,
    gpus: placement.tp,
    options,
    transferShape: { bytesPerBlock, descriptorsPerBlock: 1 },
    kvBytesPerToken: kvBytesPerToken(placement.model, placement.tp),
    dataParallel: size === undefined ? undefined : { size, isLockstep: true },
  };
}

/**
 * Blocks that no request gets. The slot of SGLang for padded tokens lies beside those it counts
 * (python/sglang/srt/mem_cache: `clear` of its allocators, `_create_buffers` of its pools).
 * TensorRT-LLM gives a block to the dummy request that pads batches to a captured size, which
 * InferenceX's scripts enable (`enable_padding`; `add_dummy_requests` of its KV cache manager).
 */
function reservedBlocksOf(framework: Framework): number {
  switch (framework) {
    case 'vllm':
      return NULL_BLOCKS;
    case 'trtllm':
      return PADDING_BLOCKS;
    case 'sglang':
      return 0;
  }
}

function limitsOf(
  { script, disaggregated }: ServingPoint,
  role: EngineRole,
  { gpu }: EnginePlacement,
): SchedulerDefaults {
  const usual = schedulerDefaults(gpu);
  const decodeSequences = role === 'decode' ? disaggregated?.decodeSequences : undefined;
  const maxNumSeqs = decodeSequences ?? script.maxNumSeqs ?? usual.maxNumSeqs;
  const { maxNumBatchedTokens = usual.maxNumBatchedTokens } = script;
  return { maxNumSeqs, maxNumBatchedTokens };
}

function stepTimeSpec(point: ServingPoint, query: Parameters<typeof cudaGraphSizes>[0]) {
  const { framework, mxfp4Activations, isSynchronous, vllmMinor, script } = point;
  const { maxCudagraphCaptureSize, float32, isNormInAllReduce } = script;
  // Baton has no data about the sizes of other frameworks.
  const isKnown = framework === 'vllm';
  const graphs = isKnown ? cudaGraphSizes({ ...query, maxCudagraphCaptureSize }) : [];
  const kernels = { framework, mxfp4Activations, float32, isNormInAllReduce, vllmMinor };
  return { kind: 'auto', ...kernels, cudaGraphSizes: graphs, isSynchronous } as const;
}

function pooled(base: EnginePool, { options, ...own }: Pool): EnginePool {
  const link = { ...LINK, ports: own.gpus };
  return enginePool({ ...base, ...own, link, options: { ...base.options, ...options } });
}
