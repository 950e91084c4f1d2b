import { assert, type Micros, NOT_YET } from '@baton/kernel';
import type { BatchAggregates, StepScatter } from '@baton/step-time';
import type { Accounts } from '../accounts';
import type { Scheduler } from '../scheduler';
import type { DecodeSets } from '../decode-set';
import { DecodeTimeline } from './decode-timeline';
import { type Flight, ringOf } from './flight';
import type { StepShare } from '../lockstep/lockstep';
import type { EngineOptions } from '../port/engine-options';
import type { EngineSequence } from '../sequence';
import type { SequenceBlocks } from '../sequence-blocks';
import type { Speculation } from '../speculation';
import { StagePasses } from './stage-passes';
import { StepCount } from './step-count';
import type { StepRecord } from '../step-record';
import type { WaitingQueue } from '../waiting-queue';

export interface FlightParts {
  readonly options: EngineOptions;
  readonly scheduler: Scheduler;
  readonly decode: DecodeSets;
  readonly blocks: SequenceBlocks;
  readonly accounts: Accounts;
  readonly record: StepRecord;
  readonly queue: WaitingQueue;
  readonly speculation: Speculation | undefined;
  /** Undefined when steps do not scatter. */
  readonly scatter: StepScatter | undefined;
}

/**
 * The batches in flight, as vLLM's `EngineCore.step_with_batch_queue` queues them: one for each
 * pipeline stage, and with async scheduling one more, which is formed when a step begins, with
 * placeholders for the tokens of that step. The step under way is that of the oldest batch. Without
 * stages and async scheduling this is `EngineCore.step`.
 *
 * Batch n has decode set n modulo the number of stages. A batch in which nothing could run takes a
 * place too, and leaves it at once when it is the oldest.
 *
 * With one stage, a timeline lays the steps of an unchanged decode batch end to end, so they can
 * follow each other by themselves; any other step is timed by itself.
 */
export class BatchQueue {
  private readonly stages: number;
  /** Steps that are counted before they end: 1 with async scheduling, else 0. */
  private readonly lag: number;
  /** Number of the oldest batch in the queue, and of the next one to form. */
  private oldest = 0;
  private next = 0;
  /** Their places, which form a ring, and that of the batch formed last. */
  private head: Flight;
  private free: Flight;
  private last: Flight;
  /** The batch that was formed last, while its chunks are not in flight yet. */
  private unsent: Flight | undefined;
  private readonly step: StepCount;
  private readonly timeline: DecodeTimeline;
  /** Undefined with one stage. */
  private readonly passes: StagePasses | undefined;
  /** True when a first token gets its jitter as the last token given. */
  private readonly hasJitter: boolean;
  /** Start of the first of the steps that the next facts cover. */
  private startUs: Micros = NOT_YET;
  private endUs: Micros = NOT_YET;
  private underWay = false;
  /** Steps since `startUs` that have ended. */
  private done = 0;
  /** Whether the timeline has the boundaries of the step behind the one under way. */
  private isLaid = false;
  private readonly record: FlightParts['record'];
  private readonly accounts: FlightParts['accounts'];
  private readonly decode: FlightParts['decode'];
  private readonly scheduler: FlightParts['scheduler'];
  private readonly speculation: FlightParts['speculation'];
  private readonly scatter: FlightParts['scatter'];
  private readonly blocks: FlightParts['blocks'];
  private readonly queue: FlightParts['queue'];
  private readonly options: FlightParts['options'];

  constructor(parts: FlightParts) {
    this.record = parts.record;
    this.accounts = parts.accounts;
    this.decode = parts.decode;
    this.scheduler = parts.scheduler;
    this.speculation = parts.speculation;
    this.scatter = parts.scatter;
    this.blocks = parts.blocks;
    this.queue = parts.queue;
    this.options = parts.options;
    const { options, decode, scheduler, record } = parts;
    const { stepTime, asyncScheduling } = options;
    this.stages = decode.all.length;
    this.lag = asyncScheduling === true ? 1 : 0;
    this.head = this.free = this.last = ringOf(this.stages + this.lag, decode.current);
    this.step = new StepCount(parts);
    this.timeline = new DecodeTimeline(stepTime, decode.current);
    this.passes = stepTime.pipeline && new StagePasses(stepTime.pipeline);
    this.hasJitter = stepTime.tokenJitterUs !== undefined;
    scheduler.formsAhead = this.lag > 0;
    if (this.lag > 0) record.batch = scheduler.batch;
  }

  /** True between `begin` and `land`. */
  get isUnderWay(): boolean {
    return this.underWay;
  }

  /** True when a batch was formed whose step has not begun. */
  get hasFormed(): boolean {
    let flight = this.underWay ? this.head.behind : this.head;
    for (let n = this.firstWaiting; n < this.next; n++, flight = flight.behind) {
      if (flight.isFormed) return true;
    }
    return false;
  }

  /** @param hasOwnEnd  false: `endAt` will set the end of the step */
  begin(startUs: Micros, hasOwnEnd = true): Micros | undefined {
    const { record } = this;
    assert(!this.underWay, 'a step is under way already');
    if (record.isRead) record.clear();
    this.fill(startUs);
    const flight = this.head;
    if (!flight.isFormed && !record.hasDismissed) return undefined;
    this.startUs = startUs;
    this.underWay = true;
    this.done = 0;
    this.isLaid = hasOwnEnd && this.mayLay(flight) && this.timeline.lay(startUs);
    if (!this.isLaid) this.timeline.break();
    if (hasOwnEnd) this.endUs = this.isLaid ? this.timeline.endUs(1) : this.timedEndUs(flight);
    if (this.lag === 0) return this.endUs;
    this.countAhead();
    // The batch behind it is formed, so its line begins where this step ends.
    this.isLaid = hasOwnEnd && this.mayLay(flight.behind) && this.timeline.lay(this.endUs);
    return this.endUs;
  }

  /** These three are as in LockstepRank. */
  form(startUs: Micros): number | undefined {
    if (this.begin(startUs, false) === undefined) return undefined;
    const { isFormed, sums } = this.head;
    return isFormed ? sums.prefillTokens + sums.decodeSeqs + sums.draftTokens : 0;
  }

  endBeside({ paddingTokens, expertTokens }: StepShare): Micros {
    const { sums } = this.head;
    // Padding tokens attend to nothing.
    const decodeSeqs = sums.decodeSeqs + paddingTokens;
    return this.timedEndUs(this.head, { ...sums, decodeSeqs, expertTokens });
  }

  endAt(endUs: Micros): void {
    assert(this.underWay && !this.isLaid, 'no step without an end is under way');
    this.endUs = endUs;
    this.passes?.holdUntil(endUs);
  }

  get bringsFirstTokens(): boolean {
    const { news, behind } = this.head;
    return news.length > 0 || (this.lag > 0 && behind.news.length > 0);
  }

  nextUs(untilUs: Micros): Micros {
    assert(this.underWay, 'no step is under way');
    if (this.endUs >= untilUs || !this.isQuiet) return this.endUs;
    return this.timeline.endUs(1 - this.lag + this.quietSteps(untilUs));
  }

  advanceTo(atUs: Micros): void {
    if (!this.underWay || this.endUs >= atUs || !this.isQuiet) return;
    this.pass(this.quietSteps(atUs));
    this.endUs = this.timeline.endUs(1 - this.lag);
  }

  /** Ends the step under way; the current decode set is then the one of its batch. */
  land(): void {
    const flight = this.head;
    const { accounts, decode, record } = this;
    assert(this.underWay, 'no step is under way');
    if (this.lag === 0) this.count(flight);
    accounts.steps++;
    if (flight.isFormed) {
      decode.current = flight.set;
      record.later.tokens = this.step.tokens();
      accounts.generatedTokens += record.later.tokens;
      this.noteFirstTokens();
      this.step.countChunks(flight);
    }
    this.underWay = false;
    this.done++;
    record.isRead = true;
    record.startUs = this.startUs;
    record.previousUs = this.stages > 1 && flight.isFormed ? flight.fromUs : this.startUs;
    record.endUs = this.endUs;
    this.noteLaterSteps(this.done - 1);
    this.leave(flight);
  }

  /** Takes a sequence that got its last token in that step out of the batch. */
  nextFinished(): EngineSequence | undefined {
    return this.step.nextFinished();
  }

  /** The prompts that ended with that step and are to be held. */
  get held(): readonly EngineSequence[] {
    return this.step.held;
  }

  /** Tokens of a running sequence that are already counted and come with the step under way. */
  tokensInFlight(seq: EngineSequence): number {
    return this.underWay && this.lag > 0 ? this.step.tokensInFlight(seq) : 0;
  }

  /**
   * Number of the last batch in flight that may write to the blocks of a sequence; undefined when
   * none does. Batches that have landed, or are about to, do not count.
   */
  lastWriting(seq: EngineSequence): number | undefined {
    let last: number | undefined;
    let flight = this.underWay ? this.head.behind : this.head;
    for (let n = this.firstWaiting; n < this.next; n++, flight = flight.behind) {
      if (flight.isFormed && this.writesTo(seq, flight)) last = n;
    }
    return last;
  }

  /** Number of the oldest batch in flight. */
  get landing(): number {
    return this.oldest;
  }

  private writesTo(seq: EngineSequence, flight: Flight): boolean {
    if (seq.state !== 'decoding') {
      return flight === this.unsent ? seq.chunk > 0 : flight.hasChunkOf(seq);
    }
    return seq.drafts >= 0 && flight.set === this.decode.of(seq);
  }

  private get firstWaiting(): number {
    return this.oldest + (this.underWay ? 1 : 0);
  }

  /** Drops empty batches that are next, and forms one for each stage that has none. */
  private fill(nowUs: Micros): void {
    while (this.oldest < this.next && !this.head.isFormed) this.dropOldest();
    while (this.next < this.oldest + this.stages) this.formNext(nowUs);
    while (!this.head.isFormed && this.hasFormed) {
      this.dropOldest();
      this.formNext(nowUs);
    }
    while (this.oldest < this.next && !this.head.isFormed) this.dropOldest();
  }

  private dropOldest(): void {
    this.oldest++;
    this.head = this.head.behind;
  }

  private formNext(nowUs: Micros): Flight {
    const { scheduler, decode, speculation, scatter } = this;
    const flight = this.free;
    // Only batches whose tokens are counted ahead can be followed before they have ended.
    const isAhead = this.lag > 0 && (this.underWay || this.hasFormed);
    this.send();
    flight.set = decode.current = decode.all[this.next % this.stages]!;
    this.next++;
    this.last = flight;
    this.free = flight.behind;
    // Sequences that left with a batch of another set may make room for others.
    if (this.stages > 1) scheduler.touch();
    flight.isFormed = scheduler.form(nowUs, isAhead);
    flight.isFed = false;
    if (!flight.isFormed) return flight;
    flight.take(scheduler.batch);
    flight.fromUs = nowUs;
    // With bursts the contexts do not grow linearly.
    const isEven = speculation === undefined && scatter === undefined;
    flight.isPure = isEven && scheduler.batch.chunkTokens === 0 && flight.loadUs === 0;
    this.unsent = flight;
    return flight;
  }

  /** Puts the chunks of the batch that was formed last in flight. */
  private send(): void {
    this.unsent?.takeChunks(this.scheduler.batch.prefilling);
    this.unsent = undefined;
  }

  private count(flight: Flight): void {
    this.step.clear();
    if (!flight.isFormed) return;
    this.decode.current = flight.set;
    if (this.unsent === flight) this.send();
    this.step.count(flight);
  }

  /** Counts the step that begins, and forms the batch behind all in flight. */
  private countAhead(): void {
    const flight = this.head;
    this.count(flight);
    if (!flight.isFormed) return;
    const last = this.formNext(this.startUs);
    last.isFed = last.set.size > 0;
  }

  /** The batch leaves the queue; the one formed ahead has the tokens that it needs. */
  private leave(flight: Flight): void {
    const { last } = this;
    if (last.isFed) last.fromUs = Math.max(last.fromUs, this.endUs);
    if (!flight.isFormed) return;
    flight.isFormed = false;
    this.dropOldest();
  }

  private mayLay({ isFormed, isPure, version, set }: Flight): boolean {
    if (this.stages > 1 || !isFormed || !isPure) return false;
    return version === set.version && this.warmupFactor === 1;
  }

  /** Whether the next step can begin by itself, because its batch is the same. */
  private get isQuiet(): boolean {
    const { scheduler, record } = this;
    if (!this.isLaid || scheduler.mayAdmitNext || record.hasDismissed) return false;
    if (this.lag > 0 && !this.isNextSteady) return false;
    return !this.hasJitter || !this.bringsFirstTokens;
  }

  /** Whether the batch behind the step under way has all running sequences, and keeps them. */
  private get isNextSteady(): boolean {
    const { batch } = this.scheduler;
    // Other nodes of a KV pool see a prompt when its step has ended.
    if (this.blocks.isShared && this.head.hasChunks) return false;
    const { set, version } = this.head.behind;
    if (set.version !== version || batch.running !== set.size) return false;
    return batch.resumed.length + this.step.stopping.length === 0;
  }

  /**
   * The number of steps after the one under way that begin by themselves, up to the first that ends
   * at or after `untilUs`.
   */
  private quietSteps(untilUs: Micros): number {
    const { timeline, lag } = this;
    const { decode, blocks, queue } = this;
    const { current } = decode;
    // A sequence is not in the batch formed ahead of its end, so that batch can admit another.
    const hasWaiting = queue.size + queue.unreservedSize > 0;
    const alike = current.stepsToFinish - (lag > 0 && hasWaiting ? 1 : 0);
    let steps = Math.min(alike, timeline.stepsWithinLimit());
    if (untilUs !== Infinity) steps = Math.min(steps, timeline.stepsUntil(untilUs));
    // The batch formed after the last of these steps needs blocks too.
    return current.stepsFed(Math.max(0, steps - 1 + lag), blocks.pool.freeBlocks);
  }

  /** Ends these many steps, each of which the next one follows by itself. */
  private pass(steps: number): void {
    if (steps === 0) return;
    if (this.done > 0 || this.timeline.has(this.startUs)) {
      this.passAlike(steps);
      return;
    }
    this.passFirst();
    if (steps > 1) this.passAlike(steps - 1);
  }

  /** Ends the first step, whose batch is not that of the steps behind it, and begins the next. */
  private passFirst(): void {
    const flight = this.head;
    this.accounts.steps++;
    this.accounts.generatedTokens += this.step.tokens();
    this.noteFirstTokens();
    this.step.countChunks(flight);
    this.done++;
    this.leave(flight);
    this.countAhead();
  }

  /** Ends steps of the batch that the timeline is laid for. */
  private passAlike(steps: number): void {
    const { accounts, decode, scheduler } = this;
    const { current } = decode;
    const flight = this.head;
    accounts.generatedTokens += steps * current.size;
    accounts.steps += steps;
    this.noteFirst(flight);
    this.done += steps;
    // A batch formed ahead of the end of a sequence lacks that sequence.
    const areAlike = this.lag === 0 || steps < current.stepsToFinish;
    current.advanceAndGrow(areAlike ? steps : steps - 1);
    if (areAlike) {
      flight.forgetNews();
      if (this.lag > 0) scheduler.batch.aggregates(flight.behind.sums);
      return;
    }
    this.leave(flight);
    this.countAhead();
  }

  /** Tells of the steps behind the first that the facts cover. */
  private noteLaterSteps(steps: number): void {
    const { timeline } = this;
    const { record } = this;
    const { later } = record;
    later.steps = steps;
    const firstEndUs = steps === 0 ? this.endUs : timeline.endUs(-steps);
    const secondEndUs = steps === 0 ? firstEndUs : timeline.endUs(1 - steps);
    record.firstEndUs = firstEndUs;
    later.firstUs = secondEndUs - firstEndUs;
    later.secondUs = steps < 2 ? 0 : timeline.endUs(2 - steps) - secondEndUs;
    later.spanUs = this.endUs - firstEndUs;
    later.continue = steps > 0 && timeline.has(this.startUs);
  }

  /** Records the first tokens of the first of several steps. */
  private noteFirst(flight: Flight): void {
    const { step } = this;
    if (this.lag === 0) {
      step.clear();
      step.countNews(flight);
    }
    this.noteFirstTokens();
    step.clear();
  }

  /** Only the first two steps can bring first tokens: the second is that of the batch formed. */
  private noteFirstTokens(): void {
    const { firstTokens, later } = this.record;
    if (this.done <= 1)
      this.step.noteFirstTokens(this.done === 0 ? firstTokens : later.firstTokens);
  }

  private get warmupFactor(): number {
    const { options, accounts } = this;
    const { warmupSteps, warmupPenaltyPercent } = options;
    return accounts.steps < warmupSteps ? 1 + warmupPenaltyPercent / 100 : 1;
  }

  /** End of a step that is timed by itself; one without a batch takes 1 µs. */
  private timedEndUs(flight: Flight, batch: BatchAggregates = flight.sums): Micros {
    const { options, scatter, speculation } = this;
    const { startUs, warmupFactor, passes } = this;
    if (!flight.isFormed) return startUs + 1;
    const factor = scatter?.next(batch.prefillTokens > 0) ?? 1;
    const draftUs = speculation?.draftUs ?? 0;
    const { loadUs, fromUs } = flight;
    if (passes === undefined) {
      const us = (factor * options.stepTime.stepUs(batch) + draftUs) * warmupFactor + loadUs;
      return startUs + Math.max(1, Math.round(us));
    }
    const extras = { factor: warmupFactor * factor, loadUs, draftUs: draftUs * warmupFactor };
    // After a pause of the caller, batches that ended before end now.
    return Math.max(startUs + 1, passes.endUs(fromUs, batch, extras));
  }
}
