import type { ContentWatcher, KvGroups, KvPoolMember, FreeContents } from '@baton/kvcache';
import type { SchedulingName, SchedulingPolicy } from './scheduling-policy';
import type { StepNoise, StepTimeModel } from '@baton/step-time';

/**
 * Speculative decoding, as `speculative_config` of vLLM with `rejection_sample_method: synthetic`.
 */
export interface SpeculationOptions {
  /** Drafted tokens per sequence and decode step, k. >= 1. */
  readonly tokens: number;
  /** Chance, 0..1, that a drafted token is right when those before it in the step are. */
  readonly acceptanceRate: number;
  /** Time of drafting, added to every step. Unset: 0. */
  readonly draftUs?: number;
  /**
   * Tokens behind those of a step that get blocks as well, for what the drafter computes (vLLM's
   * `num_lookahead_tokens`), >= 0. Unset: 0.
   */
  readonly lookaheadTokens?: number;
  /**
   * The last block that the prefix cache holds of a prompt is computed again, as with EAGLE and
   * MTP: the drafter's KV of its last token depends on the token behind. Unset: false.
   */
  readonly dropsLastHit?: boolean;
}

/** Host memory that keeps KV blocks evicted from the GPU, as vLLM's `kv_offloading_size`. */
export interface HostTierOptions {
  /** >= 1. */
  readonly blocks: number;
  /** Rate at which one rank loads its part of a block, bytes/s, > 0. */
  readonly bytesPerSecond: number;
  /** One rank's part of a block, bytes, > 0. */
  readonly bytesPerBlock: number;
}

/**
 * vLLM V1's scheduler options, by its names in camel case; the defaults are vLLM's unless noted.
 */
export interface EngineOptions {
  /** 256. */
  readonly maxNumSeqs: number;
  /** Token budget of a step; vLLM's default is 8192. */
  readonly maxNumBatchedTokens: number;
  /** 16. */
  readonly blockSize: number;
  /** Usable blocks; vLLM's `num_gpu_blocks` also counts the null block. */
  readonly numBlocks: number;
  /** Groups of layers with their own blocks. Unset: one group, which keeps the whole context. */
  readonly kvGroups?: KvGroups;
  /** Block hashes are the integers 1..contentCount, which are found faster. Unset: any hashes. */
  readonly contentCount?: number;
  readonly maxModelLen: number;
  /** Cap on the prompt tokens of one sequence in one step; 0 = off. */
  readonly longPrefillTokenThreshold: number;
  /**
   * Admit a sequence only when blocks for all of its tokens are free, not only for its first chunk.
   * The blocks are not set aside. Unset: false.
   */
  readonly schedulerReserveFullIsl?: boolean;
  /**
   * Blocks that an admission leaves free while others run: vLLM's `watermark` times all blocks.
   * Unset: 0.
   */
  readonly watermarkBlocks?: number;
  readonly enablePrefixCaching: boolean;
  /** Content of the prefix cache at the start. Unset: empty. */
  readonly warmCache?: FreeContents;
  /**
   * Which unused KV block is evicted first: the least recently freed (vLLM, the default), or the
   * one filled first.
   */
  readonly evictionPolicy?: 'lru' | 'fifo';
  /** Optional listener to the changes of the prefix cache's content. */
  readonly contentWatcher?: ContentWatcher;
  /** Unset: blocks evicted from the GPU are lost. */
  readonly hostTier?: HostTierOptions;
  /**
   * The node of this engine in a KV pool of the cluster, which `hostTier` is then part of. Unset:
   * there is no pool.
   */
  readonly kvPool?: KvPoolMember;
  /**
   * The engine exchanges KV with other memory (vLLM's KV connector). With `asyncScheduling`, no
   * block is then freed while a step writes to it. Unset: false.
   */
  readonly hasConnector?: boolean;
  /**
   * Blocks are free when their sequence ends or is preempted, though a step writes to them. Unset:
   * false.
   */
  readonly freesAtOnce?: boolean;
  readonly enableChunkedPrefill: boolean;
  /**
   * Largest batch that runs in a CUDA graph, tokens; 0: none does. It only matters to data-parallel
   * ranks in lockstep. Unset: 512.
   */
  readonly maxCudagraphCaptureSize?: number | undefined;
  /** Default for sequences whose parameters do not set it, 0..1. Unset: 0. */
  readonly globalCacheHitThreshold?: number;
  /** The order of the waiting queue: a built-in one, or a policy. */
  readonly schedulingPolicy: SchedulingName | SchedulingPolicy;
  /**
   * With `sjf`: tokens by which each second of waiting shortens a sequence in the order. Unset or
   * 0: a long sequence can starve.
   */
  readonly sjfAgingTokensPerSecond?: number;
  /**
   * SGLang's `--scheduler-recv-interval`: interval in steps, >= 1, at which an engine that only
   * decodes looks for new sequences. An engine that computes prompts or is idle looks at once.
   * Unset: 1.
   */
  readonly schedulerRecvInterval?: number;
  /**
   * Compute prompts, whenever there are any, in steps of their own, while decoding sequences wait:
   * SGLang without `--enable-mixed-chunk`. Not with KV from elsewhere, drafts or stages. Unset:
   * prompts join the steps of decoding sequences, as in vLLM.
   */
  readonly promptsFirst?: boolean;
  /** Most LoRA adapters in one batch (vLLM's `max_loras`), >= 1. Unset: any number. */
  readonly maxAdapters?: number;
  /** Speculative decoding. Unset: each step gives one token per sequence. */
  readonly speculation?: SpeculationOptions;
  /**
   * Form the batch of a step while the one before runs, as vLLM's `async_scheduling`. Unset: false.
   */
  readonly asyncScheduling?: boolean;
  readonly stepTime: StepTimeModel;
  /**
   * Random scatter of step times around the model. Such steps follow no line, so the engine takes
   * single steps. Unset: steps take the model's time exactly.
   */
  readonly stepNoise?: StepNoise;
  /** Names the random stream of that noise among engines with the same seed. Unset: empty. */
  readonly name?: string;
  /**
   * Seeds the jitter of the step-time model and the bursts of speculation, which depend only on
   * (seed, request id, token index).
   */
  readonly seed: number;
  /**
   * Extra time of the first `warmupSteps` steps, in percent of the step (100 = twice as long). 0 =
   * none.
   */
  readonly warmupPenaltyPercent: number;
  readonly warmupSteps: number;
}
