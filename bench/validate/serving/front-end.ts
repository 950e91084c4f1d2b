const REQUEST_US = 5_700;
const PROMPT_TOKEN_US = 6.3;

/**
 * Time of a request outside of the engine: HTTP, tokenising, ZMQ and the first token back. What
 * vLLM 0.30 on one H100 takes at concurrency 1 beyond the composed prefill: 6.5 ms with 128 prompt
 * tokens, 12.2 ms with 1,024 (P95 of TTFT in data/measured/silybench-h100-qwen3-8b). All of it is
 * taken for latency, none for work that requests queue for. Nothing of given.csv is in it.
 *
 * @returns µs
 */
export function frontEndUs(promptTokens: number): number {
  return Math.round(REQUEST_US + PROMPT_TOKEN_US * promptTokens);
}
