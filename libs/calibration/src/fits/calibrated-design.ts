import { NormalEquations } from '@baton/kernel';
import type { StepTimeProfile } from '@baton/step-time';
import type { MeasuredStep } from './measured-step';

/** Columns after those of `linear`: g0, g1, g2, h0, h1. */
const DECODE_COLUMNS = 3;
const PREFILL_COLUMNS = 2;
/** Strength of the pull of a column to 0, relative to its own length. */
const RELUCTANCE = 1e-4;

/** A step, and the weight of its relative error. */
export interface WeightedStep {
  readonly step: MeasuredStep;
  /** 0 to 1. Below 1: the step lies far from what the others suggest. */
  readonly weight: number;
}

/**
 * The calibrated model as a linear combination of columns with coefficients from 0. The columns are
 * a constant, one ramp per segment of `linear`, and the attention of decode and of prefill. A ramp
 * is 0 before its segment and 1 behind it, so that the line never falls.
 */
export class CalibratedDesign {
  readonly size: number;
  /** The columns that the factor on decode attention in mixed steps multiplies. */
  readonly decodeColumns: readonly number[];
  private readonly row: Float64Array;

  /** @param tokens of the points of `linear`, ascending, at least one */
  constructor(private readonly tokens: readonly number[]) {
    const first = tokens.length;
    this.size = first + DECODE_COLUMNS + PREFILL_COLUMNS;
    this.decodeColumns = [first, first + 1, first + 2];
    this.row = new Float64Array(this.size);
  }

  /** The row of a step. The next call overwrites it. */
  private rowOf(step: MeasuredStep): Float64Array {
    const { tokens, row } = this;
    const { prefillTokens, decodeSeqs, draftTokens = 0 } = step;
    const all = prefillTokens + decodeSeqs + draftTokens;
    row[0] = 1;
    for (let i = 1; i < tokens.length; i++) {
      const part = (all - tokens[i - 1]!) / (tokens[i]! - tokens[i - 1]!);
      const isLast = i === tokens.length - 1;
      row[i] = Math.max(0, isLast ? part : Math.min(1, part));
    }
    const first = tokens.length;
    row[first] = decodeSeqs > 0 ? 1 : 0;
    row[first + 1] = decodeSeqs;
    row[first + 2] = decodeSeqs > 0 ? step.decodeContext : 0;
    row[first + 3] = prefillTokens > 0 ? 1 : 0;
    row[first + 4] = prefillTokens > 0 ? step.prefillQuadratic : 0;
    return row;
  }

  /**
   * The system of some steps. Fixed times that prefill and decode share are charged once in a mixed
   * step, so a fixed time of one of them needs evidence: a weak pull of g0 and h0 to 0 decides
   * where steps of one kind do not.
   */
  systemOf(points: readonly WeightedStep[]): NormalEquations {
    const system = new NormalEquations(this.size);
    for (const { step, weight } of points) system.add(this.rowOf(step), step.ms, weight / step.ms);
    for (const column of [this.tokens.length, this.tokens.length + DECODE_COLUMNS]) {
      system.gram[column * this.size + column]! *= 1 + RELUCTANCE;
    }
    return system;
  }

  /** The parts of a profile for these coefficients. */
  profileOf(
    x: ArrayLike<number>,
  ): Pick<StepTimeProfile, 'linear' | 'decodeAttentionMs' | 'prefillAttentionMs'> {
    const first = this.tokens.length;
    let sum = 0;
    const ms = this.tokens.map((_, i) => (sum += x[i]!));
    return {
      linear: { tokens: this.tokens, ms },
      decodeAttentionMs: [x[first]!, x[first + 1]!, x[first + 2]!],
      prefillAttentionMs: [x[first + 3]!, x[first + 4]!],
    };
  }
}

/**
 * At most `segments` + 1 of the measured numbers of tokens, evenly spread on a logarithmic scale,
 * including the smallest and the largest.
 */
export function linearPoints(steps: readonly MeasuredStep[], segments: number): number[] {
  const measured = [
    ...new Set(steps.map((step) => step.prefillTokens + step.decodeSeqs + (step.draftTokens ?? 0))),
  ].sort((a, b) => a - b);
  const low = Math.log(measured[0]!);
  const high = Math.log(measured.at(-1)!);
  const chosen = Array.from({ length: segments + 1 }, (_, i) =>
    nearest(measured, Math.exp(low + ((high - low) * i) / Math.max(1, segments))),
  );
  return [...new Set([measured[0]!, ...chosen, measured.at(-1)!])].sort((a, b) => a - b);
}

function nearest(rising: readonly number[], wanted: number): number {
  return rising.reduce((best, value) =>
    Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best,
  );
}
