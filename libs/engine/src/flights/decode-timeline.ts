import { type Micros, NOT_YET } from '@baton/kernel';
import type { DecodeLaw, StepTimeModel } from '@baton/step-time';
import { type DecodeSet, NO_VERSION } from '../decode-set';

/**
 * When the steps of an unchanged decode batch end. They are laid end to end from one anchor by a
 * closed form, so a boundary does not depend on whether the steps before it were taken one by one
 * or at once. With B sequences of S tokens in all at the anchor and a step time of A + c·S, j steps
 * take
 *
 *   D(j) = j·(A + c·S) + c·B·j·(j − 1)/2   µs,
 *
 * because each step adds B tokens of context; the j-th boundary is the anchor plus D(j), rounded to
 * a microsecond.
 */
export class DecodeTimeline {
  private law: DecodeLaw | undefined;
  private anchorUs: Micros = NOT_YET;
  private anchorStep = 0;
  private version = NO_VERSION;
  /** B, the first step's A + c·S, and c·B/2. */
  private seqs = 0;
  private firstUs = 0;
  private bend = 0;

  constructor(
    private readonly model: StepTimeModel,
    private readonly set: DecodeSet,
  ) {}

  /**
   * Puts the step that starts at `startUs` on the line. Returns false when no line fits and the
   * step needs its own timing.
   */
  lay(startUs: Micros): boolean {
    if (this.continuesAt(startUs)) return true;
    this.anchor(startUs);
    return this.law !== undefined && this.attendedTokens() <= this.law.contextLimit;
  }

  /** Whether the line has the step that started then, one of the last. */
  has(startUs: Micros): boolean {
    return this.law !== undefined && this.anchorUs <= startUs;
  }

  /** Makes the next step start a new line. */
  break(): void {
    this.law = undefined;
  }

  /** End of the `steps`-th step from now, counted from 1. */
  endUs(steps: number): Micros {
    return this.boundaryUs(this.set.steps - this.anchorStep + steps);
  }

  /**
   * Steps from now, 1 or more, until the first boundary at or after `untilUs`: D(j) solved for j,
   * then corrected for rounding.
   */
  stepsUntil(untilUs: Micros): number {
    const done = this.set.steps - this.anchorStep;
    let j = Math.max(done + 1, this.estimate(untilUs - this.anchorUs));
    while (j > done + 1 && this.boundaryUs(j - 1) >= untilUs) j--;
    while (this.boundaryUs(j) < untilUs) j++;
    return j - done;
  }

  /** Steps from now for which the line is valid. */
  stepsWithinLimit(): number {
    const limit = this.law?.contextLimit ?? 0;
    return limit === Infinity
      ? Infinity
      : Math.floor((limit - this.attendedTokens()) / this.seqs) + 1;
  }

  private continuesAt(startUs: Micros): boolean {
    if (this.law === undefined || this.version !== this.set.version) return false;
    return this.endUs(0) === startUs && this.attendedTokens() <= this.law.contextLimit;
  }

  private anchor(startUs: Micros): void {
    const { set } = this;
    this.law = this.model.decodeLaw?.(set.size, this.attendedTokens());
    if (this.law === undefined) return;
    const { baseUs, perContextUs } = this.law;
    this.anchorUs = startUs;
    this.anchorStep = set.steps;
    this.version = set.version;
    this.seqs = set.size;
    this.firstUs = Math.max(1, baseUs + perContextUs * this.attendedTokens());
    this.bend = (perContextUs * set.size) / 2;
  }

  /** A sequence attends to the tokens in KV and to the token that the step adds. */
  private attendedTokens(): number {
    return this.set.contextTokens + this.set.size;
  }

  private boundaryUs(j: number): Micros {
    return this.anchorUs + Math.round(j * this.firstUs + this.bend * j * (j - 1));
  }

  private estimate(spanUs: Micros): number {
    if (spanUs <= 0) return 1;
    if (this.bend === 0) return Math.ceil(spanUs / this.firstUs);
    const slope = this.firstUs - this.bend;
    const root = Math.sqrt(slope * slope + 4 * this.bend * spanUs);
    return Math.ceil((root - slope) / (2 * this.bend));
  }
}
