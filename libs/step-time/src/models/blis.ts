import { type EnginePlacement, HardwareError } from '@baton/hardware';
import {
  type BatchAggregates,
  type DecodeLaw,
  MIN_STEP_US,
  type StepTimeModel,
} from '../port/step-time-model';
import { type BlisBasis, blisBasisOf } from './blis-basis';

/** BLIS's trained-physics model. */
export interface BlisSpec {
  readonly kind: 'blis';
  /** 7 to 11 coefficients in BLIS's order; unset: those shipped by BLIS. */
  readonly beta?: readonly number[] | undefined;
}

/**
 * Trained by BLIS on H100 with vLLM 0.15.1 (36 held-out runs: E2EL within 6.7 % in the median, TTFT
 * mean 17.6 %, ITL 7.1 %; A100 15.7 %, L40S 13.3 %).
 */
export const BLIS_BETA: readonly number[] = [
  0.152128, 0, 1.36252915, 0.752037, 32.09546717, 4.41684444, 126.024825, 481.86, 0, 1.94710771,
  0.752037,
];

const FEWEST = 7;
/**
 * From this number of coefficients on, prefill (decode) adds computing and KV instead of taking the
 * larger.
 */
const PREFILL_SPLIT = 9;
const DECODE_SPLIT = 10;
/** Both use the same links: without its own coefficient the exchange has that of all-reduces. */
const ALL_REDUCE = 3;
const EXCHANGE = 10;

/**
 * `β1a · Tpf_compute + β1b · Tpf_kv + β2a · Tdc_compute + β2b · Tdc_kv + β3 · Tweight + β4 · Ttp +
 * β5 · layers + β6 · sequences + β7 + βEP · Texchange`, µs; with fewer than ten coefficients the
 * larger of computing and KV stands for both. BLIS's list has β1a, β2a, β3 … β8, β1b, β2b, βEP in
 * this order; β8 is for models that alternate dense and expert layers, of which the catalogue has
 * none. Its α are times of a request outside of the engine and no part of a step.
 */
export class BlisStepTime implements StepTimeModel {
  readonly description: string;
  private readonly basis: BlisBasis;
  private readonly beta: readonly number[];
  private readonly isPrefillSplit: boolean;
  private readonly isDecodeSplit: boolean;
  /**
   * Laws by number of decoding sequences, where computing is the larger part and where reading KV
   * is.
   */
  private readonly computeLaws: (DecodeLaw | undefined)[] = [];
  private readonly kvLaws: (DecodeLaw | undefined)[] = [];

  /** @throws HardwareError `bad-profile`, `bad-tensor-parallel`, `bad-expert-parallel` */
  constructor(spec: BlisSpec, placement: EnginePlacement) {
    const given = spec.beta ?? BLIS_BETA;
    checkBeta(given);
    this.basis = blisBasisOf(placement);
    this.isPrefillSplit = given.length >= PREFILL_SPLIT;
    this.isDecodeSplit = given.length >= DECODE_SPLIT;
    this.beta = BLIS_BETA.map((_, i) => given[i] ?? (i === EXCHANGE ? given[ALL_REDUCE]! : 0));
    const { model, gpu, tp } = placement;
    this.description = `BLIS trained physics ${model.name} on ${gpu.name} TP${tp}`;
  }

  stepUs(batch: BatchAggregates): number {
    const { prefillTokens, prefillSeqs, decodeSeqs, decodeContext, draftTokens = 0 } = batch;
    if (prefillTokens + draftTokens === 0) {
      const law = this.decodeLaw(decodeSeqs, decodeContext);
      return law.baseUs + law.perContextUs * decodeContext;
    }
    const decodeTokens = decodeSeqs + draftTokens;
    const prefill = prefillTokens > 0 ? this.prefillUs(batch) : 0;
    const decode = decodeSeqs > 0 ? this.decodeUs(decodeTokens, decodeContext) : 0;
    const rest = this.fixedUs(prefillTokens + decodeTokens, prefillSeqs + decodeSeqs);
    return Math.max(MIN_STEP_US, prefill + decode + rest);
  }

  decodeLaw(decodeSeqs: number, decodeContext = 0): DecodeLaw {
    const compute = (this.computeLaws[decodeSeqs] ??= this.computeLaw(decodeSeqs));
    if (decodeContext <= compute.contextLimit) return compute;
    return (this.kvLaws[decodeSeqs] ??= this.kvLaw(decodeSeqs));
  }

  /**
   * BLIS counts attention of each chunk t against the whole prompt s, t · (s + t/2). With s = p + n
   * that is Q/2 + Σ n², and Σ n² is taken as that of equal prompts.
   */
  private prefillUs({ prefillTokens, prefillSeqs, prefillQuadratic }: BatchAggregates): number {
    const { tokenComputeUs, pairComputeUs, kvTokenUs } = this.basis;
    const pairs = prefillQuadratic / 2 + (prefillTokens * prefillTokens) / prefillSeqs;
    const compute = prefillTokens * tokenComputeUs + pairs * pairComputeUs;
    const kv = prefillTokens * kvTokenUs;
    return this.isPrefillSplit
      ? this.beta[0]! * compute + this.beta[8]! * kv
      : this.beta[0]! * Math.max(compute, kv);
  }

  private decodeUs(decodeTokens: number, decodeContext: number): number {
    const { tokenComputeUs, pairComputeUs, kvTokenUs } = this.basis;
    const compute = decodeTokens * tokenComputeUs + decodeContext * pairComputeUs;
    const kv = decodeContext * kvTokenUs;
    return this.isDecodeSplit
      ? this.beta[1]! * compute + this.beta[9]! * kv
      : this.beta[1]! * Math.max(compute, kv);
  }

  private computeLaw(decodeSeqs: number): DecodeLaw {
    const { tokenComputeUs, pairComputeUs, kvTokenUs } = this.basis;
    const products = this.beta[1]! * decodeSeqs * tokenComputeUs;
    const split = this.beta[1]! * pairComputeUs + this.beta[9]! * kvTokenUs;
    const slower = kvTokenUs - pairComputeUs;
    const crossing = slower > 0 ? (decodeSeqs * tokenComputeUs) / slower : Infinity;
    return {
      baseUs: Math.max(MIN_STEP_US, this.fixedUs(decodeSeqs, decodeSeqs) + products),
      perContextUs: this.isDecodeSplit ? split : this.beta[1]! * pairComputeUs,
      contextLimit: this.isDecodeSplit ? Infinity : Math.floor(crossing),
    };
  }

  private kvLaw(decodeSeqs: number): DecodeLaw {
    return {
      baseUs: Math.max(MIN_STEP_US, this.fixedUs(decodeSeqs, decodeSeqs)),
      perContextUs: this.beta[1]! * this.basis.kvTokenUs,
      contextLimit: Infinity,
    };
  }

  private fixedUs(tokens: number, sequences: number): number {
    const { weightUs, allReduceTokenUs, exchangeTokenUs, layers } = this.basis;
    const { beta } = this;
    const wires = beta[3]! * allReduceTokenUs + beta[10]! * exchangeTokenUs;
    const perStep = beta[2]! * weightUs + beta[4]! * layers + beta[6]!;
    return perStep + beta[5]! * sequences + wires * tokens;
  }
}

function checkBeta(beta: readonly number[]): void {
  const isCount = beta.length >= FEWEST && beta.length <= BLIS_BETA.length;
  if (isCount && beta.every((value) => Number.isFinite(value) && value >= 0)) return;
  throw new HardwareError(
    'bad-profile',
    `BLIS coefficients cannot be used: beta_coeffs must be ${FEWEST} to ${BLIS_BETA.length} ` +
      'numbers from 0.',
  );
}
