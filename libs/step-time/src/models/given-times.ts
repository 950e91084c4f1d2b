import { loadFactor, type LoadSpec } from '../port/load-factor';
import {
  type BatchAggregates,
  type DecodeLaw,
  MIN_STEP_US,
  type StepTimeModel,
} from '../port/step-time-model';
import { TokenJitter } from '../port/token-jitter';

/** llm-d-inference-sim's `constant` calculator. */
export interface ConstantSpec extends LoadSpec {
  readonly kind: 'constant';
  /** Time of a step that computes prompt tokens, for any number of them. */
  readonly timeToFirstTokenMs: number;
  readonly timeToFirstTokenStdDevMs?: number | undefined;
  /** Time of a step that only decodes. */
  readonly interTokenLatencyMs: number;
  readonly interTokenLatencyStdDevMs?: number | undefined;
}

/** llm-d-inference-sim's `per-token` calculator. */
export interface PerTokenSpec extends LoadSpec {
  readonly kind: 'per-token';
  /** Per step with prompt tokens. */
  readonly prefillOverheadMs: number;
  /** Per prompt token that the cache does not hold. */
  readonly prefillTimePerTokenMs: number;
  readonly prefillTimeStdDevMs?: number | undefined;
  readonly interTokenLatencyMs: number;
  readonly interTokenLatencyStdDevMs?: number | undefined;
}

interface GivenTimes extends LoadSpec {
  readonly description: string;
  readonly prefillOverheadMs: number;
  readonly prefillTimePerTokenMs: number;
  readonly firstTokenStdDevMs: number | undefined;
  readonly interTokenLatencyMs: number;
  readonly interTokenLatencyStdDevMs?: number | undefined;
}

/** Per-token times in which a prompt token takes no time. */
export function constantStepTime(spec: ConstantSpec): StepTimeModel {
  const { timeToFirstTokenMs, interTokenLatencyMs } = spec;
  return new GivenStepTime({
    ...spec,
    description: `constant, prefill ${timeToFirstTokenMs} ms, decode ${interTokenLatencyMs} ms`,
    prefillOverheadMs: timeToFirstTokenMs,
    prefillTimePerTokenMs: 0,
    firstTokenStdDevMs: spec.timeToFirstTokenStdDevMs,
  });
}

export function perTokenStepTime(spec: PerTokenSpec): StepTimeModel {
  const { prefillOverheadMs, prefillTimePerTokenMs, interTokenLatencyMs } = spec;
  return new GivenStepTime({
    ...spec,
    description:
      `per token, prefill ${prefillOverheadMs} ms + ${prefillTimePerTokenMs} ms ` +
      `per token, decode ${interTokenLatencyMs} ms`,
    firstTokenStdDevMs: spec.prefillTimeStdDevMs,
  });
}

/**
 * `overhead + uncached prompt tokens · time per token` for prefill; a step that also decodes takes
 * at least the inter-token latency.
 */
class GivenStepTime implements StepTimeModel {
  readonly description: string;
  private readonly jitter: TokenJitter;

  constructor(private readonly times: GivenTimes) {
    this.jitter = new TokenJitter(times);
    this.description = times.description;
  }

  stepUs(batch: BatchAggregates): number {
    const { prefillOverheadMs, prefillTimePerTokenMs, interTokenLatencyMs } = this.times;
    const { prefillTokens, prefillSeqs, decodeSeqs } = batch;
    const prefillMs =
      prefillTokens > 0 ? prefillOverheadMs + prefillTokens * prefillTimePerTokenMs : 0;
    const decodeMs = decodeSeqs > 0 ? interTokenLatencyMs : 0;
    const factor = loadFactor(this.times, prefillSeqs + decodeSeqs);
    return Math.max(MIN_STEP_US, Math.max(prefillMs, decodeMs) * 1000 * factor);
  }

  decodeLaw(decodeSeqs: number): DecodeLaw {
    const us = this.times.interTokenLatencyMs * 1000 * loadFactor(this.times, decodeSeqs);
    return { baseUs: Math.max(MIN_STEP_US, us), perContextUs: 0, contextLimit: Infinity };
  }

  tokenJitterUs(seed: number, requestHash: number, tokenIndex: number): number {
    return this.jitter.offsetUs(seed, requestHash, tokenIndex);
  }
}
