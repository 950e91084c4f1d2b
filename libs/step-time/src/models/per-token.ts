import { loadFactor, type LoadSpec } from '../port/load-factor';
import {
  type BatchAggregates,
  type DecodeLaw,
  MIN_STEP_US,
  type StepTimeModel,
} from '../port/step-time-model';
import { TokenJitter } from '../port/token-jitter';

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

/**
 * `overhead + uncached prompt tokens · time per token` for prefill; a step that also decodes takes
 * at least the inter-token latency.
 */
export class PerTokenStepTime implements StepTimeModel {
  readonly description: string;
  private readonly jitter: TokenJitter;

  constructor(private readonly spec: PerTokenSpec) {
    this.jitter = new TokenJitter({ ...spec, firstTokenStdDevMs: spec.prefillTimeStdDevMs });
    this.description =
      `per token, prefill ${spec.prefillOverheadMs} ms + ${spec.prefillTimePerTokenMs} ms ` +
      'per token, ' +
      `decode ${spec.interTokenLatencyMs} ms`;
  }

  stepUs(batch: BatchAggregates): number {
    const { prefillOverheadMs, prefillTimePerTokenMs, interTokenLatencyMs } = this.spec;
    const { prefillTokens, prefillSeqs, decodeSeqs } = batch;
    const prefillMs =
      prefillTokens > 0 ? prefillOverheadMs + prefillTokens * prefillTimePerTokenMs : 0;
    const decodeMs = decodeSeqs > 0 ? interTokenLatencyMs : 0;
    const factor = loadFactor(this.spec, prefillSeqs + decodeSeqs);
    return Math.max(MIN_STEP_US, Math.max(prefillMs, decodeMs) * 1000 * factor);
  }

  decodeLaw(decodeSeqs: number): DecodeLaw {
    const us = this.spec.interTokenLatencyMs * 1000 * loadFactor(this.spec, decodeSeqs);
    return { baseUs: Math.max(MIN_STEP_US, us), perContextUs: 0, contextLimit: Infinity };
  }

  tokenJitterUs(seed: number, requestHash: number, tokenIndex: number): number {
    return this.jitter.offsetUs(seed, requestHash, tokenIndex);
  }
}
