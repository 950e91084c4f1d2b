import { choice, duration, integer, list, optionalText, text } from '../option';

/** Stages that run on something real instead of being simulated. */
export const EXECUTORS = {
  executor: choice(['simulate', 'vllm', 'llamacpp'], 'simulate', {
    help:
      'What engines do: simulate their stage, pass it on to a vLLM-compatible server ' +
      '(prefill_url, decode_url, aggregated_url), or compute it with llama.cpp.',
  }),
  executorFor: list([], {
    help: 'As executor, for one stage: prefill=vllm. May be repeated.',
  }),
  prefillUrl: list([], {
    help:
      'Server of a prefill engine, http or https without a path. May be repeated: engine i ' +
      'has the i-th.',
  }),
  decodeUrl: list([], { help: 'Server of a decode engine. May be repeated.' }),
  aggregatedUrl: list([], { help: 'Server of an aggregated engine. May be repeated.' }),
  upstreamKvConnector: choice(['nixl', 'nixl-push', 'mooncake', 'sglang'], 'nixl', {
    help:
      'How KV travels between executing prefill and decode servers: nixl is the pull of ' +
      'vLLM’s NixlConnector, by which decode begins when prefill is done; with the others ' +
      'both legs are sent at once.',
  }),
  prefillBootstrapPort: list([], {
    help:
      'Port of the bootstrap server of a prefill engine, for mooncake and sglang: one for ' +
      'all, or repeated, one for each prefill_url. Without it 8998.',
  }),
  upstreamApiKey: optionalText({
    help: 'Key that upstream servers are shown as `Authorization: Bearer`.',
    isSecret: true,
    unset: 'they are shown none',
  }),
  upstreamCa: optionalText({
    help: 'File with authorities (PEM) that vouch for https servers, besides the well-known ones.',
    unset: 'the well-known ones alone',
  }),
  upstreamMetricsInterval: duration(0.5, [0, 3_600], {
    help:
      'The metrics of upstream servers are read when those of the cluster are, and no more ' +
      'often than this; they are shown in the place of simulated ones. 0: never.',
    unit: 's',
  }),
  upstreamTimeout: duration(300, [0.05, 86_400], {
    help: 'A leg on which an upstream server sends nothing for this long has failed.',
    unit: 's',
  }),
  llamacppModel: optionalText({
    help: 'GGUF file of the model that llamacpp engines compute.',
    unset: 'the one with random weights that engines/llamacpp/setup.mjs writes',
  }),
  llamacppThreads: integer(1, [1, 1_024], { help: 'Threads of a llamacpp engine.' }),
  llamacppSequences: integer(8, [1, 256], {
    help:
      'Requests that a llamacpp engine runs at once. Each has KV memory for max_model_len ' +
      'tokens (4096 unless told).',
  }),
  llamacppHost: text('127.0.0.1', {
    help:
      'Address of this machine at which llamacpp engines listen, and are reached by those of ' +
      'other machines.',
  }),
} as const;
