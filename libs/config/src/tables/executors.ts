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
  decodeUrl: list([], {
    help:
      'Server of a decode engine, http or https without a path. May be repeated: engine i has ' +
      'the i-th.',
  }),
  aggregatedUrl: list([], {
    help:
      'Server of an aggregated engine, http or https without a path. May be repeated: engine i ' +
      'has the i-th.',
  }),
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
    help: 'Key that is sent to upstream servers as `Authorization: Bearer`.',
    isSecret: true,
    unset: 'no key is sent',
  }),
  upstreamCa: optionalText({
    help: 'File with authorities (PEM) to trust for https servers, besides the well-known ones.',
    unset: 'only the well-known ones',
  }),
  upstreamMetricsInterval: duration(0.5, [0, 3_600], {
    help:
      'Shortest time between two readings of the metrics of upstream servers, which replace ' +
      'simulated ones. They are read together with those of the cluster; 0 = never.',
    unit: 's',
  }),
  upstreamTimeout: duration(300, [0.05, 86_400], {
    help: 'Longest silence of an upstream server on one leg; after it the leg has failed.',
    unit: 's',
  }),
  llamacppModel: optionalText({
    help: 'GGUF file of the model that llamacpp engines compute.',
    unset: 'the one with random weights that engines/llamacpp/setup.mjs writes',
  }),
  llamacppThreads: integer(1, [1, 1_024], { help: 'Threads of a llamacpp engine.' }),
  llamacppSequences: integer(8, [1, 256], {
    help:
      'Requests that a llamacpp engine runs at once. Each has KV memory for max_model_len tokens ' +
      '(4096 by default).',
  }),
  llamacppHost: text('127.0.0.1', {
    help:
      'Address at which llamacpp engines of this machine listen and engines of other machines ' +
      'reach them.',
  }),
} as const;
