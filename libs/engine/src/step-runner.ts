import { assert, type Micros, truncate } from '@baton/kernel';
import type { BatchAggregates } from '@baton/step-time';
import type { DecodeSet } from './decode-set';
import { DecodeTimeline } from './decode-timeline';
import type { StepShare } from './lockstep/lockstep';
import { type Runner, type RunnerParts, warmupFactor } from './runner';
import type { EngineSequence } from './sequence';

/**
 * Lays steps in time: how long the one under way lasts, how many steps it may stand for, and what
 * that many steps do to the counters. Owns the step under way; the engine decides what happens to
 * sequences at its end.
 */
export class StepRunner implements Runner {
  private readonly decode: DecodeSet;
  private readonly timeline: DecodeTimeline;
  private startUs: Micros = 0;
  private endUs: Micros = 0;
  /** Steps under way from now on, 0 when none is. */
  private ahead = 0;
  /** Steps since `startUs` that are done, when an extended step was cut. */
  private done = 0;
  /** A first token gets its jitter as the last token given. */
  private readonly hasJitter: boolean;
  private readonly promptsDone: EngineSequence[] = [];
  readonly hasFormed = false;
  /** Whether the step under way computes anything; else it only reports who was rejected. */
  private runs = false;
  /** Whether the boundaries of the step under way follow from the timeline. */
  private isLaid = false;

  constructor(private readonly parts: RunnerParts) {
    this.decode = parts.decode.current;
    this.hasJitter = parts.options.stepTime.tokenJitterUs !== undefined;
    this.timeline = new DecodeTimeline(parts.options.stepTime, this.decode);
  }

  get isUnderWay(): boolean {
    return this.ahead > 0;
  }

  /**
   * @throws InvariantError when several steps are under way, whose outcome a change would make
   *   wrong.
   */
  assertMayChange(): void {
    assert(this.ahead <= 1, 'an extended step must be cut before anything changes');
  }

  begin(startUs: Micros, hasOwnEnd = true): Micros | undefined {
    const { former, record } = this.parts;
    assert(this.ahead === 0, 'a step is under way already');
    if (record.isRead) record.clear();
    this.runs = former.form(startUs);
    if (!this.runs && !record.hasDismissed) return undefined;
    this.startUs = startUs;
    this.endUs = startUs + 1;
    this.ahead = 1;
    this.done = 0;
    const mayLay = this.runs && hasOwnEnd && this.isPureDecode();
    this.isLaid = mayLay && this.timeline.lay(startUs);
    if (this.isLaid) this.endUs = this.timeline.endUs(1);
    else this.timeline.break();
    if (this.runs && hasOwnEnd && !this.isLaid) {
      this.endUs = startUs + this.spanOf(former.batch.aggregates());
    }
    return this.endUs;
  }

  form(startUs: Micros): number | undefined {
    if (this.begin(startUs, false) === undefined) return undefined;
    if (!this.runs) return 0;
    const { prefillTokens, decodeSeqs, draftTokens = 0 } = this.parts.former.batch.aggregates();
    return prefillTokens + decodeSeqs + draftTokens;
  }

  endBeside({ paddingTokens, expertTokens }: StepShare): Micros {
    if (!this.runs) return this.startUs + 1;
    const own = this.parts.former.batch.aggregates();
    // Padding attends to nothing.
    const decodeSeqs = own.decodeSeqs + paddingTokens;
    return this.startUs + this.spanOf({ ...own, decodeSeqs, expertTokens });
  }

  endAt(endUs: Micros): void {
    assert(this.ahead === 1 && !this.isLaid, 'no step without an end is under way');
    this.endUs = endUs;
  }

  extend(untilUs: Micros, withFirstTokens: boolean): Micros {
    assert(this.ahead === 1, 'only a single step under way is extended');
    const { blocks, former, record } = this.parts;
    const { decode } = this;
    const mayLeap = this.isLaid && !former.mayAdmitNext && !record.hasDismissed;
    if (!mayLeap || this.endUs >= untilUs) return this.endUs;
    if (former.batch.joined.length > 0 && (this.hasJitter || !withFirstTokens)) return this.endUs;
    const { timeline } = this;
    let steps = Math.min(decode.stepsToFinish, timeline.stepsWithinLimit());
    if (untilUs !== Infinity) steps = Math.min(steps, timeline.stepsUntil(untilUs));
    this.setAhead(1 + decode.stepsFed(steps - 1, blocks.pool.freeBlocks));
    return this.endUs;
  }

  cut(atUs: Micros): Micros {
    assert(this.ahead >= 1, 'no step is under way');
    if (this.ahead === 1) return this.endUs;
    const until = Math.min(this.ahead, this.timeline.stepsUntil(atUs));
    this.complete(until - 1);
    this.setAhead(1);
    return this.endUs;
  }

  /** Applies all but the last of the steps under way: tokens and blocks. */
  completeAllButLast(): void {
    assert(this.ahead >= 1, 'no step is under way');
    if (this.ahead > 1) this.complete(this.ahead - 1);
  }

  completeLast(): void {
    const { accounts, record, speculation } = this.parts;
    const { decode } = this;
    decode.advance();
    accounts.generatedTokens += decode.size;
    if (speculation !== undefined) speculation.giveBursts(decode, accounts);
    accounts.steps++;
    this.noteFirstTokens();
    this.ahead = 0;
    this.done++;
    record.isRead = true;
    record.startUs = record.formedUs = this.startUs;
    record.endUs = this.endUs;
    record.steps = this.done;
  }

  nextFinished(): EngineSequence | undefined {
    const seq = this.decode.finished();
    if (seq !== undefined) this.decode.leave(seq);
    return seq;
  }

  tokensInFlight(): number {
    return 0;
  }

  endChunks(): readonly EngineSequence[] {
    const { former, accounts, blocks } = this.parts;
    const { prefilling } = former.batch;
    truncate(this.promptsDone, 0);
    let kept = 0;
    for (const seq of prefilling) {
      seq.computed += seq.chunk;
      seq.chunk = 0;
      seq.padding = 0;
      accounts.computed(seq, seq.computed);
      if (seq.computed < seq.targetTokens) prefilling[kept++] = seq;
      else {
        this.promptsDone.push(seq);
        if (blocks.isShared) blocks.keep(seq, seq.computed);
      }
    }
    truncate(prefilling, kept);
    return this.promptsDone;
  }

  boundaryUs(step: number): Micros {
    assert(this.ahead === 0 && step >= 1 && step <= this.done, 'no such step has ended');
    return step === this.done ? this.endUs : this.timeline.endUs(step - this.done);
  }

  /**
   * Blocks that the extended step under way has taken by `atUs`, beyond those of its first step and
   * less those given back.
   */
  blocksTakenBy(atUs: Micros | undefined): number {
    if (atUs === undefined || this.ahead <= 1) return 0;
    const begun = Math.min(this.ahead, this.timeline.stepsUntil(atUs));
    return this.decode.takenAhead(begun - 1);
  }

  private complete(steps: number): void {
    const { accounts } = this.parts;
    const { decode } = this;
    if (steps === 0) return;
    decode.advanceAndGrow(steps);
    accounts.generatedTokens += steps * decode.size;
    accounts.steps += steps;
    this.noteFirstTokens();
    this.done += steps;
  }

  /**
   * When the first of the steps is done: each admitted sequence got its first token, unless it was
   * aborted before.
   */
  private noteFirstTokens(): void {
    if (this.done > 0) return;
    const { former, record } = this.parts;
    for (const seq of former.batch.joined) {
      if (seq.state === 'decoding') record.firstTokens.push(seq.handle);
    }
  }

  private setAhead(steps: number): void {
    this.ahead = steps;
    this.endUs = this.timeline.endUs(steps);
  }

  private isPureDecode(): boolean {
    const { former, speculation, scatter } = this.parts;
    // The contexts of bursts follow no line.
    if (speculation !== undefined || scatter !== undefined) return false;
    if (former.batch.loadUs > 0) return false;
    return former.batch.chunkTokens === 0 && warmupFactor(this.parts) === 1;
  }

  private spanOf(batch: BatchAggregates): Micros {
    const { options, former, speculation, scatter } = this.parts;
    const factor = scatter?.next(batch.prefillTokens > 0) ?? 1;
    const us = factor * options.stepTime.stepUs(batch) + (speculation?.draftUs ?? 0);
    const spanUs = us * warmupFactor(this.parts) + former.batch.loadUs;
    return Math.max(1, Math.round(spanUs));
  }
}
