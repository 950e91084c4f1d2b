import type { Micros } from '@baton/kernel';

/**
 * The order in which the servers of a disaggregated cluster get a request: one after the other, or
 * both at once.
 */
export const DISPATCHES = ['serial', 'concurrent'] as const;
export type Dispatch = (typeof DISPATCHES)[number];

/**
 * Time of a request in the servers in front of the engines: HTTP, chat template, tokenising, the
 * way to the engine core, and the way of its tokens back. Part of it occupies a server, so
 * simultaneous requests wait for each other; the rest is latency.
 */
export interface FrontEnd {
  /** `vllm`, or the value that the user gave. */
  readonly name: string;
  /** Latency of one pass, for any prompt. */
  readonly requestUs: number;
  /** Latency of one pass per prompt token. */
  readonly promptTokenUs: number;
  /** Part of `requestUs` for which a request occupies a server. */
  readonly requestBusyUs: number;
  /** Part of `promptTokenUs` for which a request occupies a server. */
  readonly promptTokenBusyUs: number;
  /** Server processes of one engine. */
  readonly serversPerEngine: number;
  /**
   * `serial`: the server of the decode engine gets a request when prefill has answered, so a
   * request that is handed over passes two servers one after the other. `concurrent`: it gets the
   * request at its arrival, and the second pass overlaps with prefill.
   */
  readonly dispatch: Dispatch;
}

/**
 * Time of vLLM 0.30 on one H100 at concurrency 1 beyond the composed prefill: 6.5 ms with 128
 * prompt tokens, 12.2 ms with 1,024 (P95 of TTFT in data/measured/silybench-h100-qwen3-8b).
 * https://github.com/vllm-project/router/pull/207 reports that vLLM's routers send a request to
 * decode when prefill has answered, and that the second pass then takes about 32 ms (median;
 * prompts of about 5,000 tokens, for which the two constants give 37 ms).
 *
 * A request occupies the server for its whole pass, but for part of its tokens' time: the API
 * server of vLLM 0.32 used as much processor time for a short request as the request was in it
 * (data/measured/vllm-front-end), and 100,000 tokens took its tokenizer 220 ms with vLLM 0.19
 * (https://andyluo7.github.io, "CPU-GPU co-design for agentic inference", 2026-05-14).
 */
export const VLLM_FRONT_END: FrontEnd = {
  name: 'vllm',
  requestUs: 5_700,
  promptTokenUs: 6.3,
  requestBusyUs: 5_700,
  promptTokenBusyUs: 2.2,
  serversPerEngine: 1,
  dispatch: 'serial',
};

/** Latency of one pass of a prompt through a server, in whole µs. */
export function passUs(
  { requestUs, promptTokenUs }: Pick<FrontEnd, 'requestUs' | 'promptTokenUs'>,
  promptTokens: number,
): Micros {
  return Math.round(requestUs + promptTokenUs * promptTokens);
}

/** Time for which a pass of a prompt occupies its server, in whole µs; at most the pass itself. */
export function busyUs(
  { requestBusyUs, promptTokenBusyUs }: Pick<FrontEnd, 'requestBusyUs' | 'promptTokenBusyUs'>,
  promptTokens: number,
): Micros {
  return Math.round(requestBusyUs + promptTokenBusyUs * promptTokens);
}
