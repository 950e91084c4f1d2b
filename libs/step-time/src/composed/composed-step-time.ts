import { lowerBound } from '../operators/curve';
import { PiecewiseLinear } from '../port/piecewise-linear';
import type { BatchAggregates, DecodeLaw, StepTimeModel } from '../port/step-time-model';
import { TokenLine } from '../port/token-line';
import type { OutsideRange } from '../port/valid-range';
import { DecodeSurface } from './decode-surface';
import type { StepKind } from './measured-ends';
import { settledPart } from './power-limit';
import type { Line, TabulatedStep } from './tabulated-step';

export interface ComposedOptions {
  readonly description: string;
  /** Added to each step. */
  readonly overheadMs: number;
  /** Added to each step for each of its sequences. */
  readonly hostUsPerSequence: number;
  /** Least time of a step with prompts; 0: none. */
  readonly promptFloorUs: number;
  /** Factor on decode attention in steps that also prefill. */
  readonly mixedDecodeFactor: number;
  /** Tokens of the batches that run in CUDA graphs, rising. */
  readonly cudaGraphSizes: readonly number[];
}

/**
 * Step time put together from measured operators: everything but attention at the tokens of the
 * step together, padded to the next CUDA graph, plus decode attention, plus prefill attention, plus
 * the output head. Steps beyond the measurements use the last utilisation, and are marked as
 * outside.
 */
export class ComposedStepTime implements StepTimeModel {
  readonly method = 'composed';
  readonly description: string;
  readonly overheadMs: number;
  private readonly decodeLinear: TokenLine;
  private readonly mixedLinear: TokenLine;
  /** Undefined when ranks share nothing. */
  private readonly ofAllRanks: PiecewiseLinear | undefined;
  /** Undefined where the power limit of the GPU was not measured. */
  private readonly atPowerLimit: PiecewiseLinear | undefined;
  private readonly head: PiecewiseLinear;
  private readonly surface: DecodeSurface;
  private readonly overheadUs: number;
  private readonly hostUsPerSequence: number;
  private readonly promptFloorUs: number;
  private readonly mixedDecodeFactor: number;

  constructor(
    private readonly step: TabulatedStep,
    options: ComposedOptions,
  ) {
    this.description = options.description;
    this.overheadMs = options.overheadMs;
    this.mixedDecodeFactor = options.mixedDecodeFactor;
    this.overheadUs = options.overheadMs * 1_000;
    this.hostUsPerSequence = options.hostUsPerSequence;
    this.promptFloorUs = options.promptFloorUs;
    this.decodeLinear = lineOf(step.linear.decode, options.cudaGraphSizes);
    this.mixedLinear = lineOf(step.linear.mixed, options.cudaGraphSizes);
    const { ofAllRanks, atPowerLimit } = step;
    this.ofAllRanks = ofAllRanks && new PiecewiseLinear(ofAllRanks.at, ofAllRanks.us);
    this.atPowerLimit = atPowerLimit && new PiecewiseLinear(atPowerLimit.at, atPowerLimit.us);
    this.head = new PiecewiseLinear(step.head.at, step.head.us);
    this.surface = new DecodeSurface(step.decode, (sequences) => this.decodeFixedUs(sequences));
  }

  /** Drafted tokens pass the layers and the head; attention reads the same KV for them. */
  stepUs(batch: BatchAggregates): number {
    const { prefillTokens, prefillSeqs, decodeSeqs, decodeContext, draftTokens = 0 } = batch;
    if (prefillTokens === 0 && draftTokens === 0) {
      const law = this.surface.lawAt(decodeSeqs, decodeContext);
      return law.baseUs + law.perContextUs * decodeContext;
    }
    const tokens = prefillTokens + decodeSeqs + draftTokens;
    const linear = prefillTokens > 0 ? this.mixedLinear : this.decodeLinear;
    const rows = prefillSeqs + decodeSeqs + draftTokens;
    const decode = decodeSeqs > 0 ? this.surface.attentionUs(decodeSeqs, decodeContext) : 0;
    const hostUs = this.hostUs(prefillSeqs + decodeSeqs);
    const other = linear.at(tokens) + this.head.at(rows) + hostUs;
    if (prefillTokens === 0) return other + decode;
    const own = other + this.prefillUs(batch) + this.mixedDecodeFactor * decode;
    const whole = own + this.byOtherRanksUs(tokens, batch.expertTokens);
    return Math.max(whole + this.byPowerLimitUs(tokens, whole), this.promptFloorUs);
  }

  /**
   * What a step with prompts takes longer because the GPU lowers its clocks. Steps that only decode
   * are left out: they wait for memory.
   */
  private byPowerLimitUs(tokens: number, stepUs: number): number {
    const settledUs = this.atPowerLimit?.at(tokens) ?? 0;
    return settledUs === 0 ? 0 : settledUs * settledPart(stepUs);
  }

  /**
   * The additional time (or saving) of the shared experts of a step with prompts, because the ranks
   * have another number of tokens on average. Decode-only steps keep the assumption of equal ranks:
   * in CUDA graphs they are padded to the largest rank anyway, and above, no line separates the
   * experts of decode kernels, which overlap with shared experts, from the rest.
   */
  private byOtherRanksUs(tokens: number, expertTokens = tokens): number {
    if (this.ofAllRanks === undefined || expertTokens === tokens) return 0;
    return this.ofAllRanks.at(expertTokens) - this.ofAllRanks.at(tokens);
  }

  decodeLaw(decodeSeqs: number, decodeContext = 0): DecodeLaw {
    return this.surface.lawAt(decodeSeqs, decodeContext);
  }

  outsideRange(batch: BatchAggregates): OutsideRange | undefined {
    const { prefillTokens, decodeSeqs, decodeContext, draftTokens = 0 } = batch;
    const { promptLength } = this.step.measured;
    const tokens = prefillTokens + decodeSeqs + draftTokens;
    const kind = prefillTokens > 0 ? 'mixed' : 'decode';
    const beyond = this.outsideTokens(kind, tokens, batch.expertTokens);
    if (beyond !== undefined) return beyond;
    if (decodeContext > this.contextLimit(decodeSeqs)) return this.outsideDecode(batch);
    if (prefillTokens === 0) return undefined;
    const length = meanLength(batch);
    if (length <= promptLength) return undefined;
    if (promptLength === 0) return outside('prefill attention of this shape', length, 0);
    return outside('tokens of a prompt with those before it', length, promptLength);
  }

  /** The tokens of the step or those of all ranks, whichever are farther outside. */
  private outsideTokens(
    kind: StepKind,
    tokens: number,
    expertTokens = tokens,
  ): OutsideRange | undefined {
    const { tokens: ends, ranks } = this.step.measured;
    const { ofStep, ofAllRanks } = ends[kind];
    const all = expertTokens * ranks;
    if (tokens <= ofStep && all <= ofAllRanks) return undefined;
    if (tokens / ofStep >= all / ofAllRanks) return outside('tokens per step', tokens, ofStep);
    return outside(ranks > 1 ? 'tokens of all ranks per step' : 'tokens per step', all, ofAllRanks);
  }

  contextLimit(decodeSeqs: number): number {
    if (this.outsideTokens('decode', decodeSeqs) !== undefined) return -1;
    return this.longestContext(decodeSeqs) * decodeSeqs;
  }

  private longestContext(decodeSeqs: number): number {
    const { decode, measured } = this.step;
    return measured.decodeContexts[lowerBound(decode.sequences, decodeSeqs)] ?? 0;
  }

  /** Too many sequences for any context, or too much context for so many. */
  private outsideDecode({ decodeSeqs, decodeContext }: BatchAggregates): OutsideRange {
    const longest = this.longestContext(decodeSeqs);
    if (longest > 0) {
      return outside('context tokens per decoding sequence', decodeContext / decodeSeqs, longest);
    }
    const { decode, measured } = this.step;
    const most = decode.sequences.filter((_, i) => measured.decodeContexts[i]! > 0).at(-1) ?? 0;
    if (most === 0) return outside('decode attention of this shape', decodeSeqs, 0);
    return outside('decoding sequences', decodeSeqs, most);
  }

  private decodeFixedUs(sequences: number): number {
    return this.decodeLinear.at(sequences) + this.head.at(sequences) + this.hostUs(sequences);
  }

  /** Part of a step in which the GPU waits for the engine's process. */
  private hostUs(sequences: number): number {
    return this.overheadUs + this.hostUsPerSequence * sequences;
  }

  /**
   * The batch's prompts taken as alike: their mean length, and the share of the pairs that is new.
   */
  private prefillUs(batch: BatchAggregates): number {
    const length = meanLength(batch);
    const newPairs = batch.prefillQuadratic / batch.prefillSeqs;
    const wholeUs = this.wholePrefillUs(batch.prefillSeqs, length);
    return (wholeUs * newPairs) / length ** 2;
  }

  private wholePrefillUs(count: number, length: number): number {
    const { prompts, us } = this.step.prefill;
    const above = Math.min(Math.max(1, lowerBound(prompts, count)), prompts.length - 1);
    const [low, high] = [prompts[above - 1]!, prompts[above]!];
    const lowUs = this.atLength(us[above - 1]!, length);
    const highUs = this.atLength(us[above]!, length);
    return lowUs + ((highUs - lowUs) * (count - low)) / (high - low);
  }

  /**
   * Linear in √time between two lengths, because time grows with the square; also beyond the last.
   */
  private atLength(row: readonly number[], length: number): number {
    const { lengths } = this.step.prefill;
    const above = Math.min(Math.max(1, lowerBound(lengths, length)), lengths.length - 1);
    const [low, high] = [Math.sqrt(row[above - 1]!), Math.sqrt(row[above]!)];
    const from = lengths[above - 1]!;
    const root = low + ((high - low) * (length - from)) / (lengths[above]! - from);
    return Math.max(0, root) ** 2;
  }
}

/**
 * Tokens of a prompt with those before it: with n new ones on average, Σ(f² − p²) / Σn is f + p.
 */
function meanLength({ prefillTokens, prefillSeqs, prefillQuadratic }: BatchAggregates): number {
  return (prefillQuadratic / prefillTokens + prefillTokens / prefillSeqs) / 2;
}

function lineOf({ at, us }: Line, captured: readonly number[]): TokenLine {
  return new TokenLine(at, us, captured);
}

function outside(what: string, value: number, max: number): OutsideRange {
  return { what, value, range: [0, max] };
}
