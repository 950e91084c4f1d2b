import { SCHEDULING_NAMES } from '@baton/engine';
import {
  choice,
  choiceOrModule,
  durationByCause,
  integer,
  list,
  number,
  optionalChoice,
  optionalDuration,
  optionalInteger,
  optionalNumber,
  optionalText,
  optionalToggle,
  toggle,
} from '../option';

/** Far above useful draft lengths. */
export const DRAFT_TOKENS_MAX = 32;

/** The causes of a start, in their order in time. */
export const STARTUP_CAUSES = ['image-pull', 'weights', 'weights-from-peer', 'warm-up'] as const;

/** vLLM's scheduler options, with its names and defaults. */
export const ENGINE = {
  blockSize: integer(16, [1, 1024], {
    help: 'Tokens per KV block.',
    unit: 'tokens',
  }),
  maxNumSeqs: optionalInteger([1, 65_536], {
    help: 'Most sequences in one batch.',
    unit: 'sequences',
    unset: "vLLM's default for the GPU: 1024, or 256 below 70 GiB and on A100",
  }),
  maxNumBatchedTokens: optionalInteger([1, 1_048_576], {
    help: 'Token budget of one step: decode tokens and prompt chunks together.',
    unit: 'tokens',
    unset: "vLLM's default for the GPU: 8192, 2048 below 70 GiB and on A100, 16384 from 160 GiB",
  }),
  /** 0 = off. */
  longPrefillTokenThreshold: integer(0, [0, 1_048_576], {
    help:
      'Most prompt tokens of one sequence in one step, so that a long prompt does not starve ' +
      'others; 0 = off.',
    unit: 'tokens',
  }),
  enablePrefixCaching: toggle(true, {
    help: 'Share KV blocks of equal prompt prefixes and keep them for later requests.',
  }),
  disableHybridKvCacheManager: toggle(false, {
    help:
      'Keep the KV of the whole context also in layers with a sliding window (gpt-oss, Gemma 2 ' +
      'and 3, Llama 4). Otherwise they have their own KV blocks and free those that the ' +
      'window has left.',
  }),
  evictionPolicy: choice(['lru', 'fifo'], 'lru', {
    help:
      'Unused KV block that is evicted first: the least recently used one (lru, as in vLLM) or ' +
      'the one that was filled first (fifo).',
  }),
  /** 0 = off. */
  kvOffloadingSize: number(0, [0, 1e6], {
    help:
      'Host memory of one engine, all its GPUs together, that keeps KV blocks evicted from the ' +
      'GPU; 0 = off.',
    unit: 'GiB',
  }),
  /** Default: PCIe 4.0 x16, four fifths of its 32 GB/s. */
  kvOffloadingBandwidth: number(25, [0.001, 10_000], {
    help: 'Rate at which one GPU loads KV from host memory, while its engine computes nothing.',
    unit: 'GB/s',
  }),
  kvPool: choice(['none', 'global'], 'none', {
    help:
      'KV pool: none, or global, where the host memory of all engines (kv_offloading_size each) ' +
      'is one pool. An engine stores the KV that it computes in its own memory, and fetches a ' +
      'longer prefix from another engine when that takes less time than computing it.',
  }),
  kvPoolBandwidth: optionalNumber([0.001, 10_000], {
    help:
      'Rate at which one GPU fetches KV from the memory of another engine, while its own engine ' +
      'computes nothing.',
    unit: 'GB/s',
    unset: 'that of link',
  }),
  kvPoolLatency: optionalDuration([0, 3_600_000], {
    help: 'Time from a fetch to its first byte, for each engine that is read from.',
    unit: 'ms',
    unset: 'that of link',
  }),
  /** `kvcache_balancing_threshold` of the Mooncake paper, which gives it no value. */
  kvPoolBalancingThreshold: number(1, [1, 1_000], {
    help:
      'How many times longer than its own prefix a prefix in the pool must be before an engine ' +
      'considers fetching it; 1 = only the time decides.',
  }),
  /** Mooncake's Conductor stores fetched blocks; a store with one replica does not. */
  kvPoolReplicas: integer(0, [0, 65_536], {
    help:
      'Engines that keep the same KV block in memory, so that hot blocks are read from several; ' +
      '0 = any number.',
    unit: 'engines',
  }),
  globalCacheHitThreshold: number(0, [0, 1], {
    help:
      'Least share of a prompt that the prefix cache must hold; a request with less ends at ' +
      'once with finish_reason cache_threshold. Its own cache_hit_threshold wins; prefill ' +
      'legs are exempt; 0 = off.',
  }),
  enableChunkedPrefill: toggle(true, {
    help: 'Split a prompt over several steps when the token budget is short.',
  }),
  schedulingPolicy: choiceOrModule(SCHEDULING_NAMES, 'fcfs', {
    help:
      'Order of waiting requests: first come first served, by `priority` of the request ' +
      '(lower first), the shortest prompt first (not in vLLM; long prompts may starve, see ' +
      'sjf_aging), or the order of your own ES module (docs/policies.md).',
  }),
  /** 0 = none. */
  sjfAging: number(0, [0, 1e9], {
    help:
      'With scheduling_policy sjf: tokens by which one second of waiting shortens a prompt in ' +
      'the order, so that long prompts do not starve.',
    unit: 'tokens/s, simulated',
  }),
  schedulerRecvInterval: integer(1, [1, 10_000], {
    help: "SGLang's option: steps between two checks for requests while an engine only decodes.",
    unit: 'steps',
  }),
  enableMixedChunk: toggle(false, {
    help:
      "SGLang's option, for framework sglang: prompts join the steps of decoding sequences " +
      'instead of taking steps of their own.',
  }),
  schedulerReserveFullIsl: toggle(true, {
    help:
      'Admit a prompt only when blocks for the whole of it are free, not just for its first ' +
      'chunk.',
  }),
  watermark: number(0, [0, 0.999], {
    help:
      'Share of the KV blocks that the admission of a waiting request leaves free while others ' +
      'run, so that running requests are preempted less often; 0 = none.',
  }),
  enforceEager: toggle(false, {
    help:
      'Run without CUDA graphs: batches are not padded, and the KV cache gets the memory of the ' +
      'graphs. The time to launch single kernels is not modelled; add it to step_overhead_ms.',
  }),
  cudagraphCaptureSizes: optionalText({
    like: '1,2,4,8',
    help:
      'Tokens of the batches that run in CUDA graphs. With composed step times a batch takes the ' +
      'time of the next size, except for attention; above the largest it is not padded.',
    unset:
      "vLLM's: 1, 2, 4, from 8 in steps of 8, from 256 in steps of 16, up to " +
      'max_cudagraph_capture_size',
  }),
  maxCudagraphCaptureSize: optionalInteger([1, 65_535], {
    help: "The largest of vLLM's sizes of CUDA graphs.",
    unit: 'tokens',
    unset: 'twice max_num_seqs, and at most 512, or 1024 on B200, B300, GB200 and GB300',
  }),
  asyncScheduling: optionalToggle({
    help:
      'Form the batch of a step while the step before runs: there is no gap between steps, but a ' +
      'new request, slot or block is used one step later.',
    unset: 'on, as in vLLM; off below vllm_version 0.14 and with pipeline_parallel_size above 1',
  }),
  /** 0 = off. */
  numSpeculativeTokens: integer(0, [0, DRAFT_TOKENS_MAX], {
    help:
      'Speculative decoding: tokens drafted for each sequence in a decode step, as in ' +
      'speculative_config of vLLM; a step yields those that are right up to the first ' +
      'wrong one, and one more; 0 = off.',
    unit: 'tokens',
  }),
  speculativeMethod: choice(['ngram', 'draft_model', 'eagle', 'mtp'], 'ngram', {
    help:
      "The drafter, as method of vLLM's speculative_config. All but n-grams need blocks for what " +
      'they compute after a step; eagle and mtp compute the last block of a prefix hit again.',
  }),
  speculativeAcceptanceRate: number(0.7, [0, 1], {
    help:
      'Chance that a drafted token is right when those before it in the step are; drawn from ' +
      'the seed.',
  }),
  speculativeDraftMs: number(0, [0, 10_000], {
    help: 'Time of drafting, added to every step while num_speculative_tokens is above 0.',
    unit: 'ms, simulated',
  }),
  enableLora: toggle(false, {
    help:
      'Serve LoRA adapters: their own names beside the base model, which share its engines ' +
      'but not its prefixes.',
  }),
  maxLoras: integer(1, [1, 65_536], {
    help: 'LoRA adapters that one batch may mix; requests for a further one wait.',
    unit: 'adapters',
  }),
  loraModules: list([], {
    help:
      'A LoRA adapter that is served from the start, as name=path or {"name": "…", "path": ' +
      '"…"}; the path is shown, never opened. May be repeated, and implies enable_lora.',
  }),
  allowRuntimeLoraUpdating: toggle(false, {
    help: 'Serve /v1/load_lora_adapter and /v1/unload_lora_adapter.',
    alsoEnv: ['VLLM_ALLOW_RUNTIME_LORA_UPDATING'],
  }),
  kvEventsEndpoint: optionalText({
    help:
      "ZeroMQ address at which KV-cache events are published in vLLM's format, for example " +
      'tcp://*:5557; the number of the engine is added to the port. Needs the package ' +
      'packages/kv-events.',
    unset: 'no events',
  }),
  kvEventsReplayEndpoint: optionalText({
    help:
      'ZeroMQ address at which subscribers request missed KV-cache events, for example ' +
      'tcp://*:6557; the number of the engine is added to the port.',
    unset: 'no replay',
  }),
  kvEventsTopic: optionalText({
    help:
      'Topic of KV-cache events; {engine} stands for the number of the engine, {host} for its ' +
      'machine and {model} for the model. llm-d reads kv@{host}@{model}.',
    unset: 'an empty topic, as vLLM has',
  }),
  kvEventsFormat: choice(['array', 'map'], 'array', {
    help: 'Encoding of structs in KV-cache events: arrays, or maps with the names of their fields.',
  }),
  /** Simulated seconds. */
  startupDuration: durationByCause(STARTUP_CAUSES, [0, 86_400], {
    help:
      'Simulated time for which an engine loads before it takes work, as a real engine loads ' +
      'weights. With causes (image-pull=20s,weights=35s,warm-up=5s) it is their sum, and reports ' +
      'and metrics show each. weights-from-peer=8s replaces weights while another engine of the ' +
      'role is ready.',
    unit: 's',
  }),
  warmStart: optionalChoice(['peer'], {
    help:
      'Prefix cache of an engine that joins. peer: before it takes work, the engine fetches the ' +
      'cache of the ready engine of its role that has most. A replay also takes a file of ' +
      '--save-cache, for the engines of its start.',
    unset: 'empty',
  }),
  /** Percent of the step. */
  warmupPenalty: number(0, [0, 10_000], {
    help: 'Extra time of the first steps of an engine; 100 makes them twice as long.',
    unit: '%',
  }),
  warmupSteps: integer(0, [0, 1_000_000], {
    help: 'Steps to which warmup_penalty applies.',
    unit: 'steps',
  }),
} as const;
