import { assert, type Micros } from '@baton/kernel';
import type { BatchAggregates } from '@baton/step-time';
import type { DecodeSet } from '../decode-set';
import { DecodeTimeline } from './decode-timeline';
import type { StepShare } from '../lockstep/lockstep';
import { type Runner, type RunnerParts, warmupFactor } from './runner';
import type { EngineSequence } from '../sequence';

/**
 * The steps under way of an engine with one batch at a time on its GPUs: their number, the number
 * done, and their ends. A timeline lays steps of an unchanged decode batch end to end, so one call
 * may cover several; any other step is timed by itself.
 */
export abstract class LaidRunner implements Runner {
  protected readonly decode: DecodeSet;
  protected readonly timeline: DecodeTimeline;
  protected startUs: Micros = 0;
  protected endUs: Micros = 0;
  /** Steps under way from now on; 0 when none is. */
  protected ahead = 0;
  /** Whether the boundaries of the step under way follow from the timeline. */
  protected isLaid = false;
  /** True when a first token gets its jitter as the last token given. */
  protected readonly hasJitter: boolean;
  /** Steps since `startUs` that had ended when an extended step was cut. */
  protected done = 0;

  /** @param counted  steps under way that the decode set has counted already: 0 or 1 */
  constructor(
    protected readonly parts: RunnerParts,
    private readonly counted: number,
  ) {
    const { decode, options } = parts;
    this.decode = decode.current;
    this.hasJitter = options.stepTime.tokenJitterUs !== undefined;
    this.timeline = new DecodeTimeline(options.stepTime, this.decode);
  }

  abstract readonly hasFormed: boolean;
  abstract begin(startUs: Micros): Micros | undefined;
  abstract form(startUs: Micros): number | undefined;
  abstract endBeside(share: StepShare): Micros;
  abstract extend(untilUs: Micros, withFirstTokens: boolean): Micros;
  abstract completeLast(): void;
  abstract nextFinished(): EngineSequence | undefined;
  abstract endChunks(): readonly EngineSequence[];
  abstract tokensInFlight(seq: EngineSequence): number;
  abstract blocksTakenBy(atUs: Micros | undefined): number;

  /** Reports the sequences that got their first token with the first of these steps. */
  protected abstract noteFirstTokens(): void;
  /** Makes the decode set count this many ended steps. */
  protected abstract advance(steps: number): void;

  get isUnderWay(): boolean {
    return this.ahead > 0;
  }

  assertMayChange(): void {
    assert(this.ahead <= 1, 'an extended step must be cut before anything changes');
  }

  endAt(endUs: Micros): void {
    assert(this.ahead === 1 && !this.isLaid, 'no step without an end is under way');
    this.endUs = endUs;
  }

  cut(atUs: Micros): Micros {
    assert(this.ahead >= 1, 'no step is under way');
    if (this.ahead === 1) return this.endUs;
    this.complete(this.begunBy(atUs) - 1);
    this.setAhead(1);
    return this.endUs;
  }

  completeAllButLast(): void {
    assert(this.ahead >= 1, 'no step is under way');
    this.complete(this.ahead - 1);
  }

  boundaryUs(step: number): Micros {
    assert(this.ahead === 0 && step >= 1 && step <= this.done, 'no such step has ended');
    return step === this.done ? this.endUs : this.timeline.endUs(step - this.done);
  }

  protected setAhead(steps: number): void {
    this.ahead = steps;
    this.endUs = this.timeline.endUs(steps - this.counted);
  }

  /** The number of steps under way that have begun by `atUs`. */
  protected begunBy(atUs: Micros): number {
    const { timeline, counted } = this;
    if (timeline.endUs(1 - counted) >= atUs) return 1;
    return Math.min(this.ahead, counted + timeline.stepsUntil(atUs));
  }

  /** Counts the last of the steps, which produced `tokens` tokens. */
  protected endStep(tokens: number): void {
    const { accounts, record } = this.parts;
    accounts.generatedTokens += tokens;
    accounts.steps++;
    if (this.done === 0) this.noteFirstTokens();
    this.ahead = 0;
    this.done++;
    record.isRead = true;
    record.startUs = record.previousUs = this.startUs;
    record.endUs = this.endUs;
    record.steps = this.done;
  }

  /** Duration of a step with this batch when it is timed by itself. */
  protected spanOf(batch: BatchAggregates, loadUs: number): Micros {
    const { options, scatter, speculation } = this.parts;
    const factor = scatter?.next(batch.prefillTokens > 0) ?? 1;
    const us = factor * options.stepTime.stepUs(batch) + (speculation?.draftUs ?? 0);
    return Math.max(1, Math.round(us * warmupFactor(this.parts) + loadUs));
  }

  private complete(steps: number): void {
    if (steps === 0) return;
    const { accounts } = this.parts;
    accounts.generatedTokens += steps * this.decode.size;
    accounts.steps += steps;
    if (this.done === 0) this.noteFirstTokens();
    this.done += steps;
    this.advance(steps);
  }
}
