import type { Micros } from '@baton/kernel';

/**
 * How the servers of a disaggregated cluster get a request: one after the other, or both at once.
 */
export const DISPATCHES = ['serial', 'concurrent'] as const;
export type Dispatch = (typeof DISPATCHES)[number];

/**
 * Time that a request spends outside of the engines, in the servers in front of them: HTTP, chat
 * template, tokenising, the way to the engine core, and the way of its tokens back. A part of it
 * occupies a server, so requests at once wait for each other; the rest is latency.
 */
export interface FrontEnd {
  /** `vllm`, or what the user gave. */
  readonly name: string;
  /** Latency of one pass, whatever the prompt. */
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
   * `serial`: the server of the decode engine sees a request when prefill has answered, so a
   * request that is handed over passes two servers one after the other. `concurrent`: it sees the
   * request at its arrival, and the second pass hides behind prefill.
   */
  readonly dispatch: Dispatch;
}

/**
 * What vLLM 0.30 on one H100 takes at concurrency 1 beyond the composed prefill: 6.5 ms with 128
 * prompt tokens, 12.2 ms with 1,024 (P95 of TTFT in data/measured/silybench-h100-qwen3-8b). That
 * vLLM's routers send a request to decode when prefill has answered, and that the second pass then
 * takes about 32 ms (median; prompts of about 5,000 tokens, for which the two constants say 37 ms),
 * is said in https://github.com/vllm-project/router/pull/207.
 *
 * The part that occupies a server is tokenising: one thread does it
 * (https://github.com/vllm-project/vllm/issues/25301), and 100,000 tokens took 220 ms with vLLM
 * 0.19 (https://andyluo7.github.io, "CPU-GPU co-design for agentic inference", 2026-05-14). No
 * source gives the part of `requestUs`, so it is 0.
 */
export const VLLM_FRONT_END: FrontEnd = {
  name: 'vllm',
  requestUs: 5_700,
  promptTokenUs: 6.3,
  requestBusyUs: 0,
  promptTokenBusyUs: 2.2,
  serversPerEngine: 1,
  dispatch: 'serial',
};

/** Latency of one pass of a prompt through a server, to the microsecond. */
export function passUs(
  { requestUs, promptTokenUs }: Pick<FrontEnd, 'requestUs' | 'promptTokenUs'>,
  promptTokens: number,
): Micros {
  return Math.round(requestUs + promptTokenUs * promptTokens);
}

/** How long a pass of a prompt occupies its server, to the microsecond; at most the pass itself. */
export function busyUs(
  { requestBusyUs, promptTokenBusyUs }: Pick<FrontEnd, 'requestBusyUs' | 'promptTokenBusyUs'>,
  promptTokens: number,
): Micros {
  return Math.round(requestBusyUs + promptTokenBusyUs * promptTokens);
}
