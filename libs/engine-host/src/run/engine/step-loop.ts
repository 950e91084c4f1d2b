import type { Alarm, LiveClock } from '@baton/clock';
import type { StepFacts, StepShare } from '@baton/engine';
import { type Micros, secondsToUs } from '@baton/kernel';
import type { EngineSlot } from './engine-slot';
import type { BarrierRank, StepBarrier } from './step-barrier';

/**
 * Longest time by which an idle engine dates a step back to its cause, so that delivery does not
 * add to latency (wall µs).
 */
const BACK_DATING_US = 20_000;

/** An engine that is late by more than this was stopped: it continues from now (wall µs). */
const RE_ANCHOR_US = secondsToUs(1);

/**
 * A batch is due at its own end, and it is formed later by up to this share of the last step:
 * messages about events before its end can still be on their way.
 */
const GRACE_SHARE = 0.5;

/** Shorter ones are left out, since timers have a grain of 1 ms (wall µs). */
const SHORTEST_GRACE_US = 2_000;

/** The batch of a step is formed in its first half, and its results are sent in the second. */
const LEAD_SHARE = 0.5;

/** Shorter leads are left out, for the same reason (wall µs). */
const TIMER_GRAIN_US = 1_000;

/** Steps that take no time end together in one turn of the event loop for this long (wall µs). */
const CATCH_UP_US = 1_000;

/** Shorter steps end by timers alone, so that they never turn into a busy loop (wall µs). */
const SHORTEST_PRECISE_US = 4_000;

export interface StepLoopParts {
  readonly clock: LiveClock;
  readonly slot: EngineSlot;
  /** Begins and ends the steps of all ranks of the engine. Unset: this loop does. */
  readonly barrier?: StepBarrier | undefined;
  /**
   * Whether steps end within 0.1 ms for clients, at the cost of up to 1 ms of CPU time per step.
   * Otherwise they end up to 1 ms late; their logical end is the same.
   */
  readonly isPrecise: boolean;
  /**
   * Whether batches are formed a moment after they are due; false where they depend on what others
   * have by then.
   */
  readonly hasGrace: boolean;
  /**
   * Longest time before the logical end of a step at which its results are sent (wall µs); 0: at
   * its end. The results of ranks that step together are always sent at the end.
   */
  readonly leadUs: number;
}

/** Called when the results of a step are due, before the next one begins. */
export interface StepListener {
  /** `lateUs`: wall µs from the step's logical end to now; negative with a lead. */
  onStep(durationUs: Micros, lateUs: number): void;
  onFacts(facts: StepFacts): void;
  /** A step has begun at this instant, or could not begin. */
  onBegun(startUs: Micros): void;
  /** The batch behind a step that has ended is formed, or there is none. */
  onFormed(): void;
  onReAnchor(): void;
}

interface Arrival {
  readonly causeUs: Micros;
  readonly enter: (() => void) | undefined;
}

/**
 * Paces one engine on the wall clock. Steps lie end to end on simulated time, whenever the process
 * gets to run; an idle engine starts from the instant of the cause that woke it. Requests enter the
 * engine before the first step that starts at or after their cause. For a rank that steps together
 * with others, their barrier does the pacing.
 */
export class StepLoop implements BarrierRank {
  private readonly backDatingUs: Micros;
  private arrivals: Arrival[] = [];
  private stepStartUs: Micros = 0;
  private alarm: Alarm | undefined;
  /** The next batch is formed when it rings. */
  private forming: Alarm | undefined;
  /** Changes of the engine that wait until that batch is formed. */
  private afterForming: (() => void)[] = [];
  /** End of the last step: no step starts before it. */
  private freeSinceUs: Micros = 0;
  /** End of the step under way when it was due at its beginning and takes no time. */
  private dueUs: Micros | undefined;
  /** Whether sequences were running after the last step. */
  private hasRunning = false;
  private isWakeDue = false;
  private isStopped = false;
  private isPaused = false;
  /** True when this rank takes part in the barrier's step under way. */
  private isInBarrierStep = false;

  private listener: StepListener | undefined;

  constructor(private readonly parts: StepLoopParts) {
    this.backDatingUs = BACK_DATING_US * parts.clock.speedup;
    parts.barrier?.add(this);
  }

  listen(listener: StepListener): void {
    this.listener = listener;
  }

  get isStepping(): boolean {
    return this.alarm !== undefined || this.forming !== undefined || this.isInBarrierStep;
  }

  /** The logical instant of a cause at `causeUs`: not after now, nor too long before. */
  logicalUs(causeUs: Micros): Micros {
    const nowUs = this.parts.clock.nowUs();
    return Math.min(nowUs, Math.max(causeUs, Math.round(nowUs - this.backDatingUs)));
  }

  /**
   * Calls `enter` to change the engine at the logical instant `causeUs`, and starts a step if none
   * is under way. Without `enter` the engine has already changed, and waiting sequences may
   * proceed.
   */
  enter(causeUs: Micros, enter?: () => void): void {
    this.arrivals.push({ causeUs: this.logicalUs(causeUs), enter });
    this.wake();
  }

  /**
   * Calls `enter` at once. Only when a batch was due to be formed before `causeUs`, it waits until
   * that batch is formed.
   */
  enterBetween(causeUs: Micros, enter: () => void): void {
    const isAhead = this.forming !== undefined && this.logicalUs(causeUs) > this.freeSinceUs;
    if (isAhead) this.afterForming.push(enter);
    else enter();
  }

  /**
   * Forgets the step under way and everything that has not entered: the engine has been replaced.
   */
  reset(): void {
    this.alarm?.cancel();
    this.forming?.cancel();
    this.alarm = undefined;
    this.forming = undefined;
    this.dueUs = undefined;
    this.hasRunning = false;
    this.isInBarrierStep = false;
    this.arrivals = [];
    this.afterForming = [];
  }

  /**
   * Begins no step until `resume`; the one under way ends. New requests wait. Only an engine whose
   * sequences have all ended continues, until the batches formed for them have freed their blocks.
   */
  pause(): void {
    this.isPaused = true;
  }

  /** Continues from now. */
  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.freeSinceUs = Math.max(this.freeSinceUs, this.parts.clock.nowUs());
    const { freeSinceUs } = this;
    if (this.parts.barrier !== undefined) this.enter(freeSinceUs);
    else if (!this.isStepping) this.guard(() => this.begin(this.startOfNext() ?? freeSinceUs));
  }

  stop(): void {
    this.isStopped = true;
    this.reset();
  }

  formStep(startUs: Micros): number | undefined {
    let tokens: number | undefined;
    if (!this.isPaused || this.mayEmpty) {
      this.guard(() => {
        this.admitUpTo(startUs);
        tokens = this.parts.slot.engine.formStep(startUs);
      });
    }
    this.isInBarrierStep = tokens !== undefined;
    this.stepStartUs = startUs;
    return tokens;
  }

  stepEndBeside(share: StepShare): Micros {
    let endUs = this.stepStartUs;
    this.guard(() => {
      endUs = this.parts.slot.engine.stepEndBeside(share);
    });
    return endUs;
  }

  endStepAt(endUs: Micros): void {
    if (this.isInBarrierStep) this.guard(() => this.parts.slot.engine.endStepAt(endUs));
  }

  isUnfinished(): boolean {
    return !this.isPaused && !this.isStopped && this.parts.slot.engine.isUnfinished();
  }

  onBegun(startUs: Micros): void {
    this.guard(() => this.listener?.onBegun(startUs));
  }

  endStep(endUs: Micros): Micros {
    if (this.isInBarrierStep) this.guard(() => this.settleStep(endUs));
    return this.freeSinceUs;
  }

  /** Begins a step soon if none is under way and the engine or an arrival has one to take. */
  wake(): void {
    if (this.parts.barrier !== undefined) {
      if (!this.isPaused || this.mayEmpty) this.parts.barrier.wake();
      return;
    }
    if (this.isStepping || this.isWakeDue || (this.isPaused && !this.mayEmpty)) return;
    this.isWakeDue = true;
    this.parts.clock.wall.soon(() => {
      this.isWakeDue = false;
      if (this.isStepping || (this.isPaused && !this.mayEmpty)) return;
      const { isPaused, freeSinceUs } = this;
      this.guard(() =>
        this.begin(isPaused ? this.parts.clock.nowUs() : this.nextCauseUs(freeSinceUs)),
      );
    });
  }

  /** Paused: only for batches whose sequences have all ended. */
  private get mayEmpty(): boolean {
    const { engine } = this.parts.slot;
    return engine.hasWork() && !engine.isUnfinished();
  }

  /** Starts the next step at `fromUs`, or where the next arrival makes one possible. */
  private begin(fromUs: Micros | undefined): void {
    let startUs = fromUs;
    while (startUs !== undefined && !this.isStopped) {
      this.admitUpTo(startUs);
      const endUs = this.parts.slot.engine.beginStep(startUs);
      if (endUs !== undefined) {
        this.stepStartUs = startUs;
        this.alarm = this.ringAtEnd(endUs);
      }
      this.listener?.onBegun(startUs);
      if (endUs !== undefined) return;
      startUs = this.nextCauseUs(startUs);
    }
  }

  /**
   * The end of the last step, if anything waits. An idle engine continues from the cause that wakes
   * it, even if a sequence has waited all the time for blocks that this cause freed.
   */
  private startOfNext(): Micros | undefined {
    const { freeSinceUs } = this;
    return this.parts.slot.engine.hasWork() ? freeSinceUs : this.nextCauseUs(freeSinceUs);
  }

  nextCauseUs(fromUs: Micros): Micros | undefined {
    if (this.isPaused || this.isStopped) return undefined;
    let first: Micros | undefined;
    for (const { causeUs } of this.arrivals) {
      if (first === undefined || causeUs < first) first = causeUs;
    }
    return first === undefined ? undefined : Math.max(first, fromUs, this.freeSinceUs);
  }

  private admitUpTo(startUs: Micros): void {
    if (this.arrivals.length === 0 || this.isPaused) return;
    const due: Arrival[] = [];
    const later: Arrival[] = [];
    for (const one of this.arrivals) (one.causeUs <= startUs ? due : later).push(one);
    this.arrivals = later;
    due.sort((a, b) => a.causeUs - b.causeUs);
    for (const { enter } of due) enter?.();
  }

  /**
   * The result of a simulated step is known when the step begins. With a lead it is sent before the
   * logical end, so that the delivery to its readers does not add to the step. An engine that is
   * late ends its steps turn by turn. Steps that take no time form no busy loop: while sequences
   * run, timers end them.
   */
  private ringAtEnd(endUs: Micros): Alarm {
    const { clock, isPrecise } = this.parts;
    const ring = (): void => this.guard(() => this.settleFrom(endUs));
    const stepUs = this.wallUsOf(endUs - this.stepStartUs);
    const isShort = stepUs < TIMER_GRAIN_US;
    const leadUs = Math.min(this.parts.leadUs, stepUs * LEAD_SHARE);
    if (clock.toWallUs(endUs) <= clock.wall.nowUs() && !(isShort && this.hasRunning)) {
      this.dueUs = isShort ? endUs : undefined;
      return clock.atSim(endUs, ring);
    }
    if (leadUs > TIMER_GRAIN_US) {
      return clock.wall.around(clock.toWallUs(endUs) - leadUs, ring);
    }
    const isLong = stepUs >= SHORTEST_PRECISE_US;
    return isPrecise && isLong ? clock.atSim(endUs, ring) : clock.aroundSim(endUs, ring);
  }

  /** Ends the step under way, and the ones behind it that are due and take no time. */
  private settleFrom(endUs: Micros): void {
    const { wall } = this.parts.clock;
    const untilUs = wall.nowUs() + CATCH_UP_US;
    this.settleStep(endUs);
    while (this.dueUs !== undefined && wall.nowUs() < untilUs) {
      this.alarm?.cancel();
      this.settleStep(this.dueUs);
    }
  }

  private settleStep(endUs: Micros): void {
    const { clock, slot, barrier, hasGrace } = this.parts;
    const lateUs = clock.wall.nowUs() - clock.toWallUs(endUs);
    this.alarm = undefined;
    this.dueUs = undefined;
    this.isInBarrierStep = false;
    this.freeSinceUs = endUs;
    this.listener?.onStep(endUs - this.stepStartUs, lateUs);
    const facts = slot.engine.endStep();
    this.listener?.onFacts(facts);
    if (lateUs > RE_ANCHOR_US) this.reAnchor();
    // Without a running sequence there can be no step, and later arrivals would come first.
    this.hasRunning = slot.engine.snapshot().running > 0;
    if (barrier !== undefined) this.form();
    else
      this.formAt(clock.toWallUs(endUs) + (hasGrace && this.hasRunning ? this.graceOf(endUs) : 0));
  }

  /** Forms the next batch, not before this instant of the wall clock. */
  private formAt(dueUs: number): void {
    const { wall } = this.parts.clock;
    if (dueUs <= wall.nowUs()) {
      this.form();
      return;
    }
    this.forming = wall.around(dueUs, () => {
      this.forming = undefined;
      this.guard(() => this.form());
    });
  }

  /** Wall µs for which the batch behind the step that ended at `endUs` may wait. */
  private graceOf(endUs: Micros): number {
    const graceUs = Math.min(BACK_DATING_US, this.wallUsOf(endUs - this.stepStartUs) * GRACE_SHARE);
    return graceUs < SHORTEST_GRACE_US ? 0 : graceUs;
  }

  private wallUsOf(stepUs: Micros): number {
    return stepUs / this.parts.clock.speedup;
  }

  private form(): void {
    const { barrier } = this.parts;
    const mayBegin = !this.isPaused || this.mayEmpty;
    if (barrier === undefined && !this.isStepping && mayBegin) this.begin(this.startOfNext());
    for (const enter of this.afterForming.splice(0)) enter();
    this.listener?.onFormed();
  }

  private reAnchor(): void {
    this.freeSinceUs = this.parts.clock.nowUs();
    this.listener?.onReAnchor();
  }

  private guard(run: () => void): void {
    if (this.isStopped) return;
    try {
      run();
    } catch (error) {
      this.parts.slot.crashed(error);
    }
  }
}
