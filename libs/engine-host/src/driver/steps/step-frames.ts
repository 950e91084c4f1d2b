import type { LiveClock } from '@baton/clock';
import { emptyFrameEntry } from '@baton/contract';
import type { SequenceHandle, StepFacts } from '@baton/engine';
import { type Micros, usToSeconds } from '@baton/kernel';
import { type EngineSlot } from '../../live-engine/engine/engine-slot';
import { type Frames } from '../../live-engine/runs/frames';
import { type Run, type RunTable } from '../../live-engine/runs/run';
import { type StepListener } from '../../live-engine/engine/step-loop';
import { type TimelineFacts } from '../../live-engine/observers/timeline-facts';
import type { EngineStats, Logger } from '@baton/telemetry';
import type { Endings } from '../endings/endings';
import type { JobFaults } from '../endings/job-faults';
import type { Intake } from '../jobs/intake';
import type { SourceSide } from '../handoff/source-side';
import type { TargetSide } from '../handoff/target-side';
import type { DriverOptions } from '../options';

const MAX_OFFSET_US = 0xffff;

export interface StepFramesParts {
  readonly slot: EngineSlot;
  readonly runs: RunTable;
  readonly clock: LiveClock;
  readonly frames: Frames;
  readonly endings: Endings;
  readonly source: SourceSide;
  readonly jobFaults: JobFaults;
  readonly stats: EngineStats;
  readonly log: Logger;
}

/**
 * Turns the facts of a step into frame entries: the hot path of a worker. It allocates nothing per
 * token; it writes every entry through the same object.
 */
export class StepFrames {
  private readonly entry = emptyFrameEntry();
  /**
   * The published step: its generated tokens, and what this engine computed of the prompts that it
   * completed (`PromptTokenStats.computed` in vLLM's v1/metrics/stats.py).
   */
  private stepTokens = 0;
  private readonly faulty: Run[] = [];

  constructor(private readonly parts: StepFramesParts) {}

  /** @param stepUs length of the step in simulated time */
  publish(facts: StepFacts, stepUs: Micros): void {
    for (const handle of facts.scheduled) this.scheduled(handle, stepUs);
    for (const handle of facts.preempted) this.preempted(handle);
    for (const handle of facts.finished) {
      const run = this.parts.runs.at(handle);
      if (run !== undefined) run.isEnding = true;
    }
    for (const handle of facts.emitted) this.emitted(handle, facts.endUs);
    for (const handle of facts.finished) this.finishSequence(handle, facts.endUs);
    for (const handle of facts.rejected) this.rejected(handle);
    const endUs = this.parts.clock.toWallUs(facts.endUs);
    if (facts.emitted.length + facts.rejected.length === 0) this.parts.frames.defer(endUs);
    else this.parts.frames.flushStep(endUs);
    for (const handle of facts.held) this.held(handle, facts.endUs);
    if (this.stepTokens > 0) this.parts.stats.observe('iteration_tokens_total', this.stepTokens);
    this.stepTokens = 0;
    for (const run of this.faulty.splice(0)) this.parts.jobFaults.carryOutTokenFault(run);
  }

  private scheduled(handle: SequenceHandle, stepUs: Micros): void {
    const run = this.parts.runs.at(handle);
    if (run === undefined) return;
    run.isScheduled = true;
    const { slot, frames, stats } = this.parts;
    const cachedTokens = slot.engine.cachedTokens(handle);
    const { entry } = this;
    this.address(run);
    entry.kind = 'scheduled';
    entry.reason = 'none';
    entry.offsetUs = 0;
    entry.first = Math.round(stepUs / this.parts.clock.speedup);
    entry.count = run.transferredTokens;
    entry.extra = cachedTokens;
    frames.add(run.outbox, entry);
    const computed = run.job.promptTokens - cachedTokens - run.transferredTokens;
    run.computedTokens = Math.max(0, computed);
    stats.observe('request_prefill_kv_computed_tokens', run.computedTokens);
  }

  private preempted(handle: SequenceHandle): void {
    const run = this.parts.runs.at(handle);
    if (run !== undefined) run.preemptions += 1;
  }

  private emitted(handle: SequenceHandle, endUs: Micros): void {
    const run = this.parts.runs.at(handle);
    // Only runs that generate here stream tokens; the token of a prefill leg is discarded.
    if (run === undefined || run.stage === 'prefill') return;
    const { engine } = this.parts.slot;
    const count = engine.tokensInStep(handle);
    run.emitted = engine.tokenIndex(handle) + 1;
    const first = run.emitted - count;
    if (first === 0) run.firstTokenUs = endUs;
    this.stepTokens += first === 0 ? count + run.computedTokens : count;
    if (run.emitted > run.faultAfterTokens && this.isStruck(run, first)) return;
    if (run.isEnding) return;
    const { entry } = this;
    this.address(run);
    entry.kind = 'tokens';
    entry.reason = 'none';
    entry.offsetUs = this.offsetUs(handle);
    entry.first = first;
    entry.count = count;
    entry.extra = 0;
    this.parts.frames.add(run.outbox, entry);
  }

  /**
   * Whether a fault ends the run before these tokens: they are never published, and the run ends
   * after the step.
   */
  private isStruck(run: Run, first: number): boolean {
    if (!this.parts.jobFaults.isTokenFaultDue(run)) return false;
    run.emitted = first;
    this.faulty.push(run);
    // An engine that has finished the sequence holds nothing for it, except blocks to keep.
    if (run.isEnding) {
      if (run.job.keepsKv) this.parts.slot.engine.releaseHeld(run.handle);
      this.parts.runs.unbind(run);
    }
    return true;
  }

  private finishSequence(handle: SequenceHandle, endUs: Micros): void {
    const run = this.parts.runs.at(handle);
    if (run === undefined) return;
    const { endReason, keepsKv, promptTokens } = run.job;
    const tokens = run.emitted;
    const count = this.parts.slot.engine.tokensInStep(handle);
    const { entry } = this;
    this.address(run);
    entry.kind = 'end';
    entry.reason = endReason;
    entry.offsetUs = this.offsetUs(handle);
    entry.first = tokens;
    entry.count = count;
    entry.extra = 0;
    // The last token is sampled, and needs no KV.
    const heldKv = keepsKv && this.parts.source.keep(run, promptTokens + tokens - 1, endUs);
    entry.tail = heldKv;
    this.parts.frames.add(run.outbox, entry);
    entry.tail = undefined;
    this.note(run, endUs);
    const payload = heldKv === undefined ? {} : { payload: heldKv };
    this.parts.endings.finishRequest(run, { reason: endReason, tokens, ...payload }, heldKv);
  }

  /**
   * Ends a run whose cached share of the prompt is below the client's or the engine's threshold.
   */
  private rejected(handle: SequenceHandle): void {
    const run = this.parts.runs.at(handle);
    if (run === undefined) return;
    const { entry } = this;
    this.address(run);
    entry.kind = 'end';
    entry.reason = 'cache_threshold';
    entry.offsetUs = 0;
    entry.first = run.emitted;
    entry.count = 0;
    entry.extra = 0;
    this.parts.frames.add(run.outbox, entry);
    this.parts.endings.finishRequest(run, { reason: 'cache_threshold', tokens: run.emitted });
  }

  private held(handle: SequenceHandle, endUs: Micros): void {
    const run = this.parts.runs.at(handle);
    if (run === undefined) {
      this.parts.slot.engine.releaseHeld(handle);
      return;
    }
    // The token of a prefill leg counts only when it answers an outside router.
    this.stepTokens += run.computedTokens + (run.job.flow === 'hold' ? 1 : 0);
    this.parts.source.onHeld(run, endUs);
  }

  /**
   * Records how often the engine preempted this request, and the pace that it intended for it, for
   * comparison with a client's measurement.
   */
  private note(run: Run, endUs: Micros): void {
    const { emitted, firstTokenUs, job, preemptions } = run;
    const perTokenUs = emitted > 1 ? (endUs - firstTokenUs) / (emitted - 1) : 0;
    const { stats, log } = this.parts;
    stats.observe('intended_time_per_output_token_seconds', usToSeconds(perTokenUs));
    stats.observe('request_num_preemptions', preemptions);
    if (log.isLevelEnabled('debug')) {
      const facts = { requestId: job.requestId, tokens: emitted, intendedItlMs: perTokenUs / 1e3 };
      log.debug(facts, 'request finished');
    }
  }

  private address(run: Run): void {
    this.entry.streamId = run.job.streamId;
    this.entry.epoch = run.epoch;
  }

  private offsetUs(handle: SequenceHandle): number {
    const offsetUs = this.parts.slot.engine.tokenOffsetUs(handle) / this.parts.clock.speedup;
    return Math.min(MAX_OFFSET_US, Math.max(0, Math.round(offsetUs)));
  }
}

export interface StepReportsParts {
  readonly options: Pick<DriverOptions, 'onStep'>;
  readonly pace: StepPace;
  readonly stats: EngineStats;
  /** Undefined without a listener. */
  readonly timelines: TimelineFacts | undefined;
  readonly stepFrames: StepFrames;
  readonly target: TargetSide;
  readonly slot: EngineSlot;
  /** Takes further jobs after the step, because room can have grown. */
  readonly intake: Pick<Intake, 'wake' | 'keepRoom' | 'giveRoom'>;
}

/** Handles the outcome of a step: its numbers, its frames, and room for further work. */
export class StepReports implements StepListener {
  private hasMadeRoom = false;

  constructor(private readonly parts: StepReportsParts) {}

  onStep(durationUs: Micros, lateUs: number): void {
    const { options, pace, stats, intake } = this.parts;
    intake.keepRoom();
    options.onStep?.(durationUs);
    pace.observe(durationUs, lateUs);
    stats.add('step_seconds', usToSeconds(durationUs));
    stats.observe('step_lag_seconds', usToSeconds(Math.max(0, lateUs)));
  }

  onFacts(facts: StepFacts): void {
    const { timelines, stepFrames, pace } = this.parts;
    timelines?.step(facts);
    stepFrames.publish(facts, pace.stepUs);
    const { emitted, finished, held, rejected } = facts;
    const left = finished.length + held.length + rejected.length;
    // Without tokens, the sequences of the step may have been aborted, and the engine be idle.
    this.hasMadeRoom = left > 0 || emitted.length === 0;
  }

  /** Sequences that waited for room do not enter the batch that was due before there was room. */
  onFormed(): void {
    const { intake } = this.parts;
    intake.giveRoom();
    if (this.hasMadeRoom) intake.wake();
    this.hasMadeRoom = false;
  }

  onBegun(startUs: Micros): void {
    const { target, intake, slot } = this.parts;
    const hasReserved = target.reserve(startUs);
    if (hasReserved || slot.engine.hasAdmitted) intake.wake();
  }

  onReAnchor(): void {
    this.parts.stats.add('clock_reanchors');
  }
}

const WINDOW = 256;

/** Length of the last step, and lateness of the last 256 steps. */
export class StepPace {
  private readonly lagsUs = new Float64Array(WINDOW);
  private seen = 0;
  /** Simulated length of the last step; 0 before the first. */
  stepUs: Micros = 0;

  /** @param lagUs  wall µs between the step's logical end and its real one */
  observe(stepUs: Micros, lagUs: number): void {
    this.stepUs = stepUs;
    this.lagsUs[this.seen % WINDOW] = lagUs;
    this.seen += 1;
  }

  /** 99th percentile, wall µs; 0 before the first step. */
  p99LagUs(): number {
    const filled = Math.min(this.seen, WINDOW);
    if (filled === 0) return 0;
    const sorted = this.lagsUs.slice(0, filled).sort();
    return Math.max(0, sorted[Math.ceil(filled * 0.99) - 1] ?? 0);
  }
}
