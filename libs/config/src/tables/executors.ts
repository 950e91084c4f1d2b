import { choice, duration, integer, list, optionalText, text } from '../option';

/** Stages that run on something real instead of being simulated. */
export const EXECUTORS = {
  executor: choice(['simulate', 'vllm', 'llamacpp'], 'simulate', {
    help:
      'What engines do with their stage: simulate it, pass it to a vLLM-compatible server ' +
      '(vllm; prefill_url, decode_url, aggregated_url), or compute it with llama.cpp ' +
      '(llamacpp).',
  }),
  executorFor: list([], {
    help: 'Executor of one stage, in place of executor: prefill=vllm. May be repeated.',
  }),
  prefillUrl: list([], {
    help:
      'URL of the server of a prefill engine, http or https, without a path. May be repeated: ' +
      'engine i uses the i-th.',
  }),
  decodeUrl: list([], {
    help:
      'URL of the server of a decode engine, http or https, without a path. May be repeated: ' +
      'engine i uses the i-th.',
  }),
  aggregatedUrl: list([], {
    help:
      'URL of the server of an aggregated engine, http or https, without a path. May be ' +
      'repeated: engine i uses the i-th.',
  }),
  upstreamKvConnector: choice(['nixl', 'nixl-push', 'mooncake', 'sglang'], 'nixl', {
    help:
      'How KV moves between the prefill and decode servers of executor vllm: nixl is the pull ' +
      "of vLLM's NixlConnector, where decode begins after prefill; with the others both legs " +
      'are sent at once.',
  }),
  prefillBootstrapPort: list([], {
    help:
      'Port of the bootstrap server of a prefill engine, for mooncake and sglang: one for all, ' +
      'or repeated, one for each prefill_url. Unset it is 8998.',
  }),
  upstreamApiKey: optionalText({
    help: 'Key sent to upstream servers as `Authorization: Bearer`.',
    isSecret: true,
    unset: 'no key is sent',
  }),
  upstreamCa: optionalText({
    help:
      'File with certificate authorities (PEM) to trust for https servers, in addition to the ' +
      'well-known ones.',
    unset: 'only the well-known ones',
  }),
  upstreamMetricsInterval: duration(0.5, [0, 3_600], {
    help:
      'Minimum time between two readings of the metrics of upstream servers, which replace ' +
      'simulated ones. They are read when the metrics of the cluster are read; 0 = never.',
    unit: 's',
  }),
  upstreamTimeout: duration(300, [0.05, 86_400], {
    help: 'Maximum silence of an upstream server on one leg; then the leg fails.',
    unit: 's',
  }),
  llamacppModel: optionalText({
    help: 'GGUF file of the model that llamacpp engines compute.',
    unset: 'a model with random weights, written by packages/llamacpp/setup.mjs',
  }),
  llamacppThreads: integer(1, [1, 1_024], { help: 'Number of threads of a llamacpp engine.' }),
  llamacppSequences: integer(8, [1, 256], {
    help:
      'Number of requests that a llamacpp engine runs at once. Each has KV memory for ' +
      'max_model_len tokens (4096 by default).',
  }),
  llamacppHost: text('127.0.0.1', {
    help:
      'Address at which llamacpp engines of this machine listen and engines of other machines ' +
      'reach them.',
  }),
} as const;
