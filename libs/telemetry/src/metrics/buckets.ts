/** Powers of two up to vLLM's largest token budget (vllm/v1/metrics/loggers.py). */
export const ITERATION_TOKENS = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
/** vllm/v1/metrics/buckets.py. */
export const PREEMPTIONS = [1, 2, 3, 4, 5, 10, 20];
/** vllm/distributed/kv_transfer/kv_connector/v1/nixl/stats.py. */
export const TRANSFER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 5];
export const TRANSFER_BYTES = Array.from({ length: 12 }, (_, i) => 2 ** (11 + 2 * i));
/** Buckets for the number of descriptors of a transfer, chosen like those above. */
export const TRANSFER_DESCRIPTORS = [
  10, 20, 30, 50, 75, 100, 200, 400, 1_000, 2_000, 4_000, 10_000, 20_000, 50_000,
];
/** Baton's own: from 0.1 ms, below which no message crosses a process, to a second. */
export const OVERHEAD_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25,
  0.5, 1,
];
/** vLLM's request_time_per_output_token_seconds, with finer steps below for fast decode engines. */
export const TOKEN_SECONDS = [
  0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4,
  0.5, 0.75, 1, 2.5, 5,
];
/** vLLM's 1-2-5 series, which it ends at max_model_len. */
export const REQUEST_TOKENS = oneTwoFive(10_000_000);

function oneTwoFive(limit: number): number[] {
  const series: number[] = [];
  for (let decade = 1; decade <= limit; decade *= 10) {
    for (const digit of [1, 2, 5]) if (digit * decade <= limit) series.push(digit * decade);
  }
  return series;
}

/** Like `REQUEST_TOKENS`, up to the longest sequence. */
export function tokensUpTo(maxModelLen: number): number[] {
  return REQUEST_TOKENS.filter((tokens) => tokens <= maxModelLen);
}
