import { hasExemplars, OVERHEAD_SECONDS, tokensUpTo } from '@baton/telemetry';
import { Histogram, type Registry } from 'prom-client';

/** vllm/v1/metrics/buckets.py. */
const TTFT_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
  160, 640, 2560,
];
const TOKEN_SECONDS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
];
const REQUEST_SECONDS = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
];
const CHOICES = [1, 2, 5, 10, 20];

/** The parts of the time to the first token. They follow each other without gaps. */
export const TTFT_PARTS = ['queue', 'prefill', 'transfer', 'first_step'] as const;

/** vLLM's, and the one of llm-d-inference-sim for requests below their cache-hit threshold. */
export const FINISHED_REASONS = [
  'stop',
  'length',
  'abort',
  'error',
  'repetition',
  'cache_threshold',
] as const;

/** A histogram whose buckets name a trace each, in a registry of OpenMetrics. */
export type TracedHistogram = Histogram<'engine_id' | 'trace_id'>;

/** The trace of a `traceparent`, if it is recorded. */
const RECORDED = /^\w\w-(\w{32})-\w{16}-\w[13579bdf]/;

/** A function that observes with the trace of the request, where the registry takes exemplars. */
export function tracedObserver(registry: Registry) {
  const isOn = hasExemplars(registry);
  return (histogram: TracedHistogram, { labels, value, traceparent }: Observation): void => {
    if (!isOn) return histogram.observe(labels, value);
    const [, traceId] = RECORDED.exec(traceparent ?? '') ?? [];
    const exemplarLabels = traceId === undefined ? {} : { trace_id: traceId };
    histogram.observe({ labels, value, exemplarLabels });
  };
}

interface Observation {
  readonly labels: { readonly engine_id: string };
  readonly value: number;
  readonly traceparent: string | undefined;
}

/**
 * The front's histograms of requests, by engine, with vLLM's names, texts and buckets; `baton:`
 * marks families that vLLM does not have.
 *
 * @param maxModelLen where vLLM ends the buckets of tokens
 */
export function requestHistograms(registry: Registry, maxModelLen: number) {
  const registers = [registry];
  const labelNames = ['engine_id'] as const;
  const family = (name: string, help: string, buckets: number[]): Histogram<'engine_id'> =>
    new Histogram({ name, help, buckets, labelNames, registers });
  const enableExemplars = hasExemplars(registry);
  const traced = (name: string, help: string, buckets: number[]): TracedHistogram =>
    new Histogram({ name, help, buckets, labelNames, registers, enableExemplars });
  const phase = (name: string, phaseName: string): Histogram<'engine_id'> =>
    family(
      `vllm:request_${name}_time_seconds`,
      `Histogram of time spent in ${phaseName} phase for request.`,
      REQUEST_SECONDS,
    );
  const tokens = (name: string, help: string): Histogram<'engine_id'> =>
    family(name, help, tokensUpTo(maxModelLen));
  return {
    timeToFirstToken: traced(
      'vllm:time_to_first_token_seconds',
      'Histogram of time to first token in seconds.',
      TTFT_SECONDS,
    ),
    interTokenLatency: family(
      'vllm:inter_token_latency_seconds',
      'Histogram of inter-token latency in seconds.',
      TOKEN_SECONDS,
    ),
    timePerOutputToken: traced(
      'vllm:request_time_per_output_token_seconds',
      'Histogram of time_per_output_token_seconds per request.',
      TOKEN_SECONDS,
    ),
    endToEnd: traced(
      'vllm:e2e_request_latency_seconds',
      'Histogram of e2e request latency in seconds.',
      REQUEST_SECONDS,
    ),
    queue: phase('queue', 'WAITING'),
    inference: phase('inference', 'RUNNING'),
    prefill: phase('prefill', 'PREFILL'),
    decode: phase('decode', 'DECODE'),
    promptTokens: tokens('vllm:request_prompt_tokens', 'Number of prefill tokens processed.'),
    generationTokens: tokens(
      'vllm:request_generation_tokens',
      'Number of generation tokens processed.',
    ),
    maxGenerationTokens: tokens(
      'vllm:request_max_num_generation_tokens',
      'Histogram of maximum number of requested generation tokens.',
    ),
    choices: family('vllm:request_params_n', 'Histogram of the n request parameter.', CHOICES),
    maxTokens: tokens(
      'vllm:request_params_max_tokens',
      'Histogram of the max_tokens request parameter.',
    ),
    firstTokenOverhead: family(
      'baton:request_overhead_seconds',
      'Wall time to the first token as the API sees it, less the simulated one.',
      OVERHEAD_SECONDS,
    ),
    frameDelay: family(
      'baton:frame_delay_seconds',
      'Wall time from the simulated end of an engine step until its tokens are written to the ' +
        'clients.',
      OVERHEAD_SECONDS,
    ),
  };
}

/** The parts of the time to the first token, by engine. */
export function firstTokenParts(registry: Registry): Histogram<'engine_id' | 'part'> {
  return new Histogram({
    name: 'baton:time_to_first_token_part_seconds',
    help:
      'Time to first token by part: queue until the first batch; prefill until the prompt was ' +
      'held, or the first token where nothing is handed over; transfer until the first batch ' +
      'of decode, the KV fetched; first_step until the first token.',
    buckets: TTFT_SECONDS,
    labelNames: ['engine_id', 'part'],
    registers: [registry],
  });
}
