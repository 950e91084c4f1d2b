import {
  type BatchAggregates,
  type DecodeLaw,
  MIN_STEP_US,
  type StepTimeModel,
} from '../port/step-time-model';
import {
  contextLimitOf,
  outsideOf,
  type OutsideRange,
  type Range,
  type ValidRange,
} from '../port/valid-range';

/** Milliseconds over the prompt tokens T of a step: `a · T² + b · T + c`. */
export interface PrefillPolynomial {
  readonly coefficients: readonly [a: number, b: number, c: number];
  readonly tokenRange?: Range | undefined;
}

/**
 * Milliseconds over batch size B and mean context C: `k0 + k1 · B + k2 · C + k3 · B · C + k4 · B² +
 * k5 · C²`, at least 0.
 */
export interface BatchContextPolynomial {
  readonly kind: 'batch-context';
  readonly coefficients: readonly [number, number, number, number, number, number];
  readonly batchRange?: Range | undefined;
  readonly contextRange?: Range | undefined;
}

/** Milliseconds over the share p of KV blocks in use: `a · p² + b · p + c`, at least `minMs`. */
export interface KvUsagePolynomial {
  readonly kind: 'kv-usage';
  readonly coefficients: readonly [a: number, b: number, c: number];
  readonly minMs: number;
}

export interface PolynomialSpec {
  readonly kind: 'polynomial';
  /** Unset: the defaults of the Dynamo mocker. */
  readonly prefill?: PrefillPolynomial | undefined;
  readonly decode?: BatchContextPolynomial | KvUsagePolynomial | undefined;
}

/** ai-dynamo/dynamo lib/mocker, built-in prefill fit. */
export const DYNAMO_MOCKER_PREFILL: PrefillPolynomial = {
  coefficients: [4.209989e-7, 1.518344e-2, 16.50142],
};

/** ai-dynamo/dynamo lib/mocker, built-in decode fit. */
export const DYNAMO_MOCKER_DECODE: KvUsagePolynomial = {
  kind: 'kv-usage',
  coefficients: [-25.74, 54.01, 5.74],
  minMs: 1,
};

/**
 * A step takes the time of its prompt tokens plus that of its decode batch, as the peers that these
 * fits come from charge it.
 */
export class PolynomialStepTime implements StepTimeModel {
  readonly description: string;
  private readonly prefill: PrefillPolynomial;
  private readonly decode: BatchContextPolynomial | KvUsagePolynomial;
  private readonly valid: ValidRange;

  constructor(spec: PolynomialSpec) {
    this.prefill = spec.prefill ?? DYNAMO_MOCKER_PREFILL;
    this.decode = spec.decode ?? DYNAMO_MOCKER_DECODE;
    this.valid = polynomialRange(this.prefill, this.decode);
    const decodeOver = this.decode.kind === 'kv-usage' ? 'KV usage' : 'batch size and context';
    this.description = `polynomial, prefill over tokens, decode over ${decodeOver}`;
  }

  stepUs(batch: BatchAggregates): number {
    const prefillUs = batch.prefillTokens > 0 ? this.prefillUs(batch.prefillTokens) : 0;
    const decodeUs = batch.decodeSeqs > 0 ? this.decodeUs(batch) : 0;
    return Math.max(MIN_STEP_US, prefillUs + decodeUs);
  }

  /**
   * There is no law over KV usage, which is not linear in Σ context, nor for a fit that is curved
   * or falls with the context.
   */
  decodeLaw(decodeSeqs: number, decodeContext = 0): DecodeLaw | undefined {
    const { decode } = this;
    if (decode.kind === 'kv-usage' || decode.coefficients[5] !== 0) return undefined;
    const baseUs = batchOnlyUs(decode, decodeSeqs);
    const perContextUs = perContextUsOf(decode, decodeSeqs);
    const isAboveFloor = baseUs + perContextUs * decodeContext >= MIN_STEP_US;
    if (perContextUs < 0 || !isAboveFloor) return undefined;
    return { baseUs, perContextUs, contextLimit: Infinity };
  }

  outsideRange(batch: BatchAggregates): OutsideRange | undefined {
    return outsideOf(this.valid, batch);
  }

  contextLimit(decodeSeqs: number): number {
    return contextLimitOf(this.valid, decodeSeqs);
  }

  private prefillUs(tokens: number): number {
    const [a, b, c] = this.prefill.coefficients;
    return Math.max(0, (a * tokens + b) * tokens + c) * 1000;
  }

  private decodeUs(batch: BatchAggregates): number {
    const { decode } = this;
    if (decode.kind === 'kv-usage') {
      const [a, b, c] = decode.coefficients;
      return Math.max(decode.minMs, (a * batch.kvUsage + b) * batch.kvUsage + c) * 1000;
    }
    const { decodeSeqs, decodeContext } = batch;
    const linear = perContextUsOf(decode, decodeSeqs) * decodeContext;
    const curve = decode.coefficients[5];
    const curved = curve === 0 ? 0 : curve * (decodeContext / decodeSeqs) ** 2 * 1000;
    return Math.max(0, batchOnlyUs(decode, decodeSeqs) + linear + curved);
  }
}

function batchOnlyUs({ coefficients: k }: BatchContextPolynomial, decodeSeqs: number): number {
  return (k[0] + k[1] * decodeSeqs + k[4] * decodeSeqs * decodeSeqs) * 1000;
}

/** C is Σ context / B, so `k2 · C + k3 · B · C` is `(k2 / B + k3) · Σ context`. */
function perContextUsOf({ coefficients: k }: BatchContextPolynomial, decodeSeqs: number): number {
  return (k[2] / decodeSeqs + k[3]) * 1000;
}

/** The range in which both fits are valid. */
export function polynomialRange(
  prefill: PolynomialSpec['prefill'],
  decode: PolynomialSpec['decode'],
): ValidRange {
  const prefillTokens = prefill?.tokenRange;
  if (decode?.kind !== 'batch-context') return { prefillTokens };
  const { batchRange, contextRange } = decode;
  return { prefillTokens, decodeSeqs: batchRange, meanContextMax: contextRange?.[1] };
}
