import type { HeldOutByPhase } from './held-out-factors';
import type { StepNoise } from './step-noise';
import type { OutsideRange } from './valid-range';

/**
 * The input of a step-time model for the batch of one step: sums over its sequences, so that an
 * engine can update them without a loop. Attention is linear in these sums, which is why they
 * suffice.
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
   * Drafted tokens that decoding sequences verify in addition to one token each (speculative
   * decoding); each attends to its sequence's context. Absent: 0.
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

/** The times of an engine's pipeline stages for one batch. */
export interface PipelineTimes {
  /** >= 2. */
  readonly stages: number;
  /**
   * Writes times in µs: that of the first stage, of the hop to the second, of the second, and so
   * on, 2 · stages − 1 in all. Allocates nothing.
   */
  fill(batch: BatchAggregates, us: Float64Array): void;
}

/** The duration of one step of an engine. Pure: the same batch always takes the same time. */
export interface StepTimeModel {
  /** One line for logs and results. */
  readonly description: string;
  /** The method of its times; unset when given by the user. */
  readonly method?: StepTimeMethod;
  /** Part of each step that is not GPU work; unset: not separated. */
  readonly overheadMs?: number;
  /** Errors on held-out steps, if any were held out. */
  readonly heldOut?: HeldOutByPhase | undefined;
  /** The measured scatter of steps around it, if any; its own times do not scatter. */
  readonly noise?: StepNoise | undefined;
  /**
   * Duration of the step in µs, with a fraction, > 0; the engine rounds the boundaries. Allocates
   * nothing. With pipeline stages: of a single step.
   */
  stepUs(batch: BatchAggregates): number;
  /** Times of the stages of an engine with pipeline stages. Unset: the engine has one stage. */
  readonly pipeline?: PipelineTimes;
  /**
   * The line that decode-only steps of this many sequences follow, from Σ context `decodeContext`
   * (0 unless given) up to the line's limit. Undefined when there is none: the engine then may not
   * take several steps at once. `baseUs + perContextUs · Σctx`, computed in this order, equals
   * `stepUs` to the last bit.
   */
  decodeLaw?(decodeSeqs: number, decodeContext?: number): DecodeLaw | undefined;
  /**
   * Offset in µs (>= 0), after the step's end, at which a token appears; depends only on its
   * arguments, below the step's length.
   */
  tokenJitterUs?(seed: number, requestHash: number, tokenIndex: number): number;
  /**
   * The first quantity of the batch outside of the measured or fitted range, so that the time is an
   * extrapolation; undefined inside. Allocates nothing inside.
   */
  outsideRange?(batch: BatchAggregates): OutsideRange | undefined;
  /**
   * Largest Σ context within the range for decode-only steps of so many sequences, -1 when their
   * number alone lies outside. Unset: no limit.
   */
  contextLimit?(decodeSeqs: number): number;
  /** Steps so far outside of the range; unset when not counted. */
  readonly stepsOutsideRange?: number;
  /** Steps outside of the range whose shape was not measured at all; unset when not counted. */
  readonly stepsOfUnmeasuredShape?: number;
  /** The farthest of the others as a multiple of the largest measured value; 1: none is above. */
  readonly farthestOutside?: number;
  /** The quantity of a step so far that lay farthest outside; unset: none did. */
  readonly farthest?: OutsideRange | undefined;
}

/**
 * Least length of a step, whatever a user configures or a fit extrapolates: a step without length
 * would not advance the clock.
 */
export const MIN_STEP_US = 1;
