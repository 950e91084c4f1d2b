import type { HeldOutByPhase } from './held-out-factors';
import type { StepNoise } from './step-noise';
import type { OutsideRange } from './valid-range';

/**
 * What a step-time model may know about the batch of one step: sums over its sequences, so that an
 * engine can keep them up to date without a loop. Attention is linear in these sums, which is why
 * they suffice.
 */
export interface BatchAggregates {
  /** Prompt tokens computed in this step, Σ n over the prefilling sequences. */
  readonly prefillTokens: number;
  readonly prefillSeqs: number;
  /**
   * Σ ((p + n)² − p²), p = tokens of the sequence already in KV (cached or computed before), n =
   * new ones. Tokens².
   */
  readonly prefillQuadratic: number;
  /** Σ p over the prefilling sequences. */
  readonly prefillContext: number;
  /** Sequences that generate one token each in this step. */
  readonly decodeSeqs: number;
  /** Σ context tokens over those. */
  readonly decodeContext: number;
  /**
   * Drafted tokens that decoding sequences verify beside their one each (speculative decoding);
   * each attends to its sequence's context. Absent: 0.
   */
  readonly draftTokens?: number;
  /**
   * Data-parallel ranks that step together: tokens of a rank, on average, which the experts that
   * they share get. May have a fraction. Absent: the other ranks have as many as this batch.
   */
  readonly expertTokens?: number | undefined;
  /** Share of KV blocks in use, 0..1. */
  readonly kvUsage: number;
}

/**
 * Time of a decode-only step as a straight line over Σ context: `baseUs + perContextUs · Σctx`,
 * while Σctx <= contextLimit.
 */
export interface DecodeLaw {
  readonly baseUs: number;
  readonly perContextUs: number;
  /** Largest Σ context for which the line is exact; Infinity when it always is. */
  readonly contextLimit: number;
}

/**
 * Put together from measured operators of the GPU; fitted to measured steps; or estimated from data
 * sheets, ±60 %.
 */
export type StepTimeMethod = 'composed' | 'calibrated' | 'estimated';

/** How long the pipeline stages of an engine take for one batch. */
export interface PipelineTimes {
  /** >= 2. */
  readonly stages: number;
  /**
   * Writes times in µs: that of the first stage, of the hop to the second, of the second, and so
   * on, 2 · stages − 1 in all. Allocates nothing.
   */
  fill(batch: BatchAggregates, us: Float64Array): void;
}

/** How long one step of an engine takes. Pure: the same batch always takes the same time. */
export interface StepTimeModel {
  /** One line for logs and results. */
  readonly description: string;
  /** How its times were made; unset: as the user says. */
  readonly method?: StepTimeMethod;
  /** Part of each step that is not GPU work; unset: not told apart. */
  readonly overheadMs?: number;
  /** Errors on steps that its fit never saw, where they were kept. */
  readonly heldOut?: HeldOutByPhase | undefined;
  /** How steps scatter around it, where that was measured; its own times do not. */
  readonly noise?: StepNoise | undefined;
  /**
   * Duration of the step in µs, with a fraction, > 0; the engine rounds the boundaries. Allocates
   * nothing. With pipeline stages: of a step that has them for itself.
   */
  stepUs(batch: BatchAggregates): number;
  /** Of an engine with pipeline stages. Unset: it has one. */
  readonly pipeline?: PipelineTimes;
  /**
   * The line that decode-only steps of this many sequences follow, from Σ context `decodeContext`
   * (0 unless given) up to the line's limit. Undefined when there is none: the engine then may not
   * take several steps at once. `baseUs + perContextUs · Σctx`, computed in this order, equals
   * `stepUs` to the last bit.
   */
  decodeLaw?(decodeSeqs: number, decodeContext?: number): DecodeLaw | undefined;
  /**
   * Offset in µs (>= 0), after the step's end, at which a token appears; a function of its
   * arguments alone, below the step's length.
   */
  tokenJitterUs?(seed: number, requestHash: number, tokenIndex: number): number;
  /**
   * What of the batch lies outside of what the model was measured or fitted for, so that its answer
   * is an extrapolation; undefined within. Allocates nothing within.
   */
  outsideRange?(batch: BatchAggregates): OutsideRange | undefined;
  /**
   * Largest Σ context within the range for decode-only steps of so many sequences, -1 when their
   * number alone lies outside. Unset: no limit.
   */
  contextLimit?(decodeSeqs: number): number;
  /** Steps so far that lay outside of the range; unset: they are not counted. */
  readonly stepsOutsideRange?: number;
  /** How many times the largest measured value the farthest of those had; 1: there were none. */
  readonly farthestOutside?: number;
}

/**
 * No step is shorter, whatever a user configures or a fit extrapolates to: a step of no length
 * would not move the clock.
 */
export const MIN_STEP_US = 1;
