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
    help: 'Maximum number of sequences in one batch.',
    unit: 'sequences',
    unset: "vLLM's default for the GPU: 1024, or 256 below 70 GiB and on A100",
  }),
  maxNumBatchedTokens: optionalInteger([1, 1_048_576], {
    help: 'Token budget of one step: the maximum of its decode tokens and prompt chunks together.',
    unit: 'tokens',
    unset: "vLLM's default for the GPU: 8192, 2048 below 70 GiB and on A100, 16384 from 160 GiB",
  }),
  /** 0 = off. */
  longPrefillTokenThreshold: integer(0, [0, 1_048_576], {
    help:
      'Maximum number of prompt tokens of one sequence in one step, so that a long prompt does ' +
      'not starve others; 0 = no limit.',
    unit: 'tokens',
  }),
  enablePrefixCaching: toggle(true, {
    help: 'Share KV blocks of equal prompt prefixes and keep them for later requests.',
  }),
  disableHybridKvCacheManager: toggle(false, {
    help:
      'Keep the KV of the whole context also in layers with a sliding window (gpt-oss, Gemma 2 ' +
      'and 3, Llama 4). By default these layers have their own KV blocks and free those ' +
      'outside the window.',
  }),
  evictionPolicy: choice(['lru', 'fifo'], 'lru', {
    help:
      'Which unused KV block is evicted first: the least recently used one (lru, as in vLLM) ' +
      'or the one that was filled first (fifo).',
  }),
  /** 0 = off. */
  kvOffloadingSize: number(0, [0, 1e6], {
    help:
      'Host memory of one engine, for all its GPUs together, that keeps KV blocks evicted from ' +
      'the GPU; 0 = off.',
    unit: 'GiB',
  }),
  /** Default: PCIe 4.0 x16, four fifths of its 32 GB/s. */
  kvOffloadingBandwidth: number(25, [0.001, 10_000], {
    help:
      'Rate at which one GPU loads KV from host memory. Its engine computes nothing during the ' +
      'load.',
    unit: 'GB/s',
  }),
  kvPool: choice(['none', 'global'], 'none', {
    help:
      'KV pool of the cluster: none, or global, which joins the host memory of all engines ' +
      '(kv_offloading_size each). An engine stores the KV that it computes in its own memory. ' +
      'It fetches a longer prefix from another engine when that takes less time than computing ' +
      'it.',
  }),
  kvPoolBandwidth: optionalNumber([0.001, 10_000], {
    help:
      'Rate at which one GPU fetches KV from the memory of another engine. Its own engine ' +
      'computes nothing during the fetch.',
    unit: 'GB/s',
    unset: 'that of link',
  }),
  kvPoolLatency: optionalDuration([0, 3_600_000], {
    help: 'Time until the first byte of a fetch arrives, for each engine that is read from.',
    unit: 'ms, simulated',
    unset: 'that of link',
  }),
  /** `kvcache_balancing_threshold` of the Mooncake paper, which gives it no value. */
  kvPoolBalancingThreshold: number(1, [1, 1_000], {
    help:
      'An engine fetches a prefix from the pool only if that prefix is this many times longer ' +
      'than its own, and the fetch is faster than the computation.',
  }),
  /** Mooncake's Conductor stores fetched blocks; a store with one replica does not. */
  kvPoolReplicas: integer(0, [0, 65_536], {
    help:
      'Maximum number of engines that keep the same KV block in memory, so that hot blocks are ' +
      'read from several engines; 0 = no limit.',
    unit: 'engines',
  }),
  globalCacheHitThreshold: number(0, [0, 1], {
    help:
      'Minimum share of a prompt that must be in the prefix cache. A request below it ends at ' +
      'once with finish_reason cache_threshold. The field cache_hit_threshold of a request ' +
      'takes precedence; prefill legs are exempt; 0 = off.',
  }),
  enableChunkedPrefill: toggle(true, {
    help: 'Split a prompt over several steps when the token budget is short.',
  }),
  schedulingPolicy: choiceOrModule(SCHEDULING_NAMES, 'fcfs', {
    help:
      'Order of waiting requests: first come first served (fcfs), by the field `priority` with ' +
      'lower values first, the shortest prompt first (sjf, not in vLLM), or your own ES module ' +
      '(docs/policies.md). With sjf, long prompts can starve: see sjf_aging.',
    alsoFlag: '--scheduling',
  }),
  /** 0 = none. */
  sjfAging: number(0, [0, 1e9], {
    help:
      'With scheduling_policy sjf: number of tokens by which each second of waiting shortens a ' +
      'prompt in the order, so that long prompts do not starve.',
    unit: 'tokens/s, simulated',
  }),
  schedulerRecvInterval: integer(1, [1, 10_000], {
    help:
      "SGLang's option: number of steps between two checks for new requests while an engine " +
      'only decodes.',
    unit: 'steps',
  }),
  enableMixedChunk: toggle(false, {
    help:
      "SGLang's option, for framework sglang: prompts join the steps of decoding sequences " +
      'instead of running in separate steps.',
  }),
  schedulerReserveFullIsl: toggle(true, {
    help:
      'Admit a prompt only when there are free blocks for all of it, not just for its first ' +
      'chunk.',
  }),
  watermark: number(0, [0, 0.999], {
    help:
      'Share of the KV blocks that must stay free when a waiting request is admitted beside ' +
      'running ones, to reduce preemptions; 0 = none.',
  }),
  enforceEager: toggle(false, {
    help:
      'Run without CUDA graphs: batches are not padded, and the memory of the graphs goes to ' +
      'the KV cache. The time to launch single kernels is not modelled; add it with ' +
      'step_overhead_ms.',
  }),
  cudagraphCaptureSizes: optionalText({
    like: '1,2,4,8',
    help:
      'Batch sizes in tokens that run in CUDA graphs. With composed step times, a batch takes ' +
      'the time of the next larger size, except for attention. A batch above the largest size ' +
      'is not padded.',
    unset:
      "vLLM's: 1, 2, 4, from 8 in steps of 8, from 256 in steps of 16, up to " +
      'max_cudagraph_capture_size',
  }),
  maxCudagraphCaptureSize: optionalInteger([1, 65_535], {
    help: 'Largest batch that runs in a CUDA graph, when vLLM chooses the sizes.',
    unit: 'tokens',
    unset: 'twice max_num_seqs, and at most 512, or 1024 on B200, B300, GB200 and GB300',
  }),
  asyncScheduling: optionalToggle({
    help:
      'Form the batch of a step while the previous step runs. There is then no gap between ' +
      'steps, but a new request, slot or block is used one step later.',
    unset:
      'on, as in vLLM; off below vllm_version 0.14, or 0.29 with pipeline_parallel_size above 1',
  }),
  /** 0 = off. */
  numSpeculativeTokens: integer(0, [0, DRAFT_TOKENS_MAX], {
    help:
      'Speculative decoding: number of tokens drafted for each sequence in a decode step, as ' +
      "in vLLM's speculative_config. A step yields the drafted tokens before the first wrong " +
      'one, and one more; 0 = off.',
    unit: 'tokens',
  }),
  speculativeMethod: choice(['ngram', 'draft_model', 'eagle', 'mtp'], 'ngram', {
    help:
      "Drafter, as `method` in vLLM's speculative_config. All except ngram need further blocks " +
      'for the tokens that they compute behind a step; eagle and mtp compute the last block of ' +
      'a prefix hit again.',
  }),
  speculativeAcceptanceRate: number(0.7, [0, 1], {
    help:
      'Probability that a drafted token is right if those before it in the step are right; ' +
      'drawn from the seed.',
  }),
  speculativeDraftMs: number(0, [0, 10_000], {
    help: 'Drafting time, added to every step while num_speculative_tokens is above 0.',
    unit: 'ms, simulated',
  }),
  enableLora: toggle(false, {
    help:
      'Serve LoRA adapters under names of their own. They share the engines of the base model, ' +
      'but not its prefixes.',
  }),
  maxLoras: integer(1, [1, 65_536], {
    help: 'Maximum number of LoRA adapters in one batch. Requests for another adapter wait.',
    unit: 'adapters',
  }),
  loraModules: list([], {
    help:
      'LoRA adapter that is served from the start, as name=path or {"name": "…", "path": "…"}. ' +
      'The path is shown but never opened. May be repeated; implies enable_lora.',
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
      'Time that an engine loads before it takes work, as a real engine loads weights. It may ' +
      'be a sum of causes (image-pull=20s,weights=35s,warm-up=5s), which reports and metrics ' +
      'show one by one. weights-from-peer=8s replaces weights while another engine of the role ' +
      'is ready.',
    unit: 's, simulated',
  }),
  warmStart: optionalChoice(['peer'], {
    help:
      'Prefix cache of an engine that joins. With peer, it fetches the largest cache of the ' +
      'ready engines of its role before it takes work. A replay also accepts a file of ' +
      '--save-cache, for the engines of its start.',
    excludes: 'only baton replay --warm-start loads a file of --save-cache',
    unset: 'empty',
  }),
  /** Percent of the step. */
  warmupPenalty: number(0, [0, 10_000], {
    help: 'How much longer the first steps of an engine take; 100 doubles them.',
    unit: '%',
  }),
  warmupSteps: integer(0, [0, 1_000_000], {
    help: 'Number of steps to which warmup_penalty applies.',
    unit: 'steps',
  }),
} as const;
