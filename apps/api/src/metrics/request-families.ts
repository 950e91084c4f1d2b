import type { FamilyHead } from './exposition';

export interface RequestFamily extends FamilyHead {
  readonly buckets: readonly number[];
}

/** vllm/v1/metrics/loggers.py. */
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
const TOKENS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].flatMap((decade) =>
  decade === 1_000_000 ? [decade] : [decade, 2 * decade, 5 * decade],
);
/** Ours: from a tenth of a millisecond, below which nothing crosses a process, to a second. */
const OVERHEAD_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25,
  0.5, 1,
];

const family = (name: string, help: string, buckets: readonly number[]): RequestFamily => ({
  name,
  help,
  buckets,
});

const phase = (name: string, phaseName: string): RequestFamily =>
  family(
    `vllm:request_${name}_time_seconds`,
    `Histogram of time spent in ${phaseName} phase for request.`,
    REQUEST_SECONDS,
  );

/** What the front observes of requests, by vLLM's names, texts and buckets; `baton:` marks what vLLM has no word for. */
export const REQUEST_FAMILIES = {
  timeToFirstToken: family(
    'vllm:time_to_first_token_seconds',
    'Histogram of time to first token in seconds.',
    TTFT_SECONDS,
  ),
  interTokenLatency: family(
    'vllm:inter_token_latency_seconds',
    'Histogram of inter-token latency in seconds.',
    TOKEN_SECONDS,
  ),
  timePerOutputToken: family(
    'vllm:request_time_per_output_token_seconds',
    'Histogram of time_per_output_token_seconds per request.',
    TOKEN_SECONDS,
  ),
  endToEnd: family(
    'vllm:e2e_request_latency_seconds',
    'Histogram of e2e request latency in seconds.',
    REQUEST_SECONDS,
  ),
  queue: phase('queue', 'WAITING'),
  inference: phase('inference', 'RUNNING'),
  prefill: phase('prefill', 'PREFILL'),
  decode: phase('decode', 'DECODE'),
  promptTokens: family('vllm:request_prompt_tokens', 'Number of prefill tokens processed.', TOKENS),
  generationTokens: family(
    'vllm:request_generation_tokens',
    'Number of generation tokens processed.',
    TOKENS,
  ),
  maxGenerationTokens: family(
    'vllm:request_max_num_generation_tokens',
    'Histogram of maximum number of requested generation tokens.',
    TOKENS,
  ),
  choices: family('vllm:request_params_n', 'Histogram of the n request parameter.', CHOICES),
  maxTokens: family(
    'vllm:request_params_max_tokens',
    'Histogram of the max_tokens request parameter.',
    TOKENS,
  ),
  firstTokenOverhead: family(
    'baton:request_overhead_seconds',
    'Wall time to the first token as the front sees it, less the simulated one.',
    OVERHEAD_SECONDS,
  ),
  frameDelay: family(
    'baton:frame_delay_seconds',
    'Wall time from the simulated end of an engine step until its tokens are written to the clients.',
    OVERHEAD_SECONDS,
  ),
} as const satisfies Record<string, RequestFamily>;

export type RequestFamilyKey = keyof typeof REQUEST_FAMILIES;

/** vLLM's, and the one of llm-d-inference-sim for requests below their cache-hit threshold. */
export const FINISHED_REASONS = [
  'stop',
  'length',
  'abort',
  'error',
  'repetition',
  'cache_threshold',
] as const;

export type FinishedReason = (typeof FINISHED_REASONS)[number];
