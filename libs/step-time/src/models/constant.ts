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
  /** Time of a step that computes prompt tokens, whatever their number. */
  readonly timeToFirstTokenMs: number;
  readonly timeToFirstTokenStdDevMs?: number | undefined;
  /** Time of a step that only decodes. */
  readonly interTokenLatencyMs: number;
  readonly interTokenLatencyStdDevMs?: number | undefined;
}

/**
 * Two numbers: a step with prompt tokens takes the one, a decode step the other, a step with both
 * the larger.
 */
export class ConstantStepTime implements StepTimeModel {
  readonly description: string;
  private readonly jitter: TokenJitter;

  constructor(private readonly spec: ConstantSpec) {
    this.jitter = new TokenJitter({ ...spec, firstTokenStdDevMs: spec.timeToFirstTokenStdDevMs });
    this.description =
      `constant, prefill ${spec.timeToFirstTokenMs} ms, decode ` + `${spec.interTokenLatencyMs} ms`;
  }

  stepUs(batch: BatchAggregates): number {
    const { timeToFirstTokenMs, interTokenLatencyMs } = this.spec;
    const prefillMs = batch.prefillTokens > 0 ? timeToFirstTokenMs : 0;
    const decodeMs = batch.decodeSeqs > 0 ? interTokenLatencyMs : 0;
    const factor = loadFactor(this.spec, batch.prefillSeqs + batch.decodeSeqs);
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
