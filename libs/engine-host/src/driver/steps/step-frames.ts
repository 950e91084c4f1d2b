import { Injectable } from '@nestjs/common';
import { Log } from '../../live-engine/tokens';
import { LiveClock } from '@baton/clock';
import { emptyFrameEntry } from '@baton/contract';
import type { SequenceHandle, StepFacts } from '@baton/engine';
import { type Micros, usToSeconds } from '@baton/kernel';
import { EngineSlot } from '../../live-engine/engine/engine-slot';
import { Frames } from '../../live-engine/runs/frames';
import { type Run, RunTable } from '../../live-engine/runs/run';
import { EngineStats } from '@baton/telemetry';
import { Endings } from '../endings/endings';
import { JobFaults } from '../faults/job-faults';
import { SourceSide } from '../handoff/source-side';

const MAX_OFFSET_US = 0xffff;

/**
 * Turns the facts of a step into frame entries: the hot path of a worker. It allocates nothing per
 * token; it writes every entry through the same object.
 */
@Injectable()
export class StepFrames {
  private readonly entry = emptyFrameEntry();
  /**
   * The published step: its generated tokens, and what this engine computed of the prompts that it
   * completed (`PromptTokenStats.computed` in vLLM's v1/metrics/stats.py).
   */
  private stepTokens = 0;
  private readonly faulty: Run[] = [];

  constructor(
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly clock: LiveClock,
    private readonly frames: Frames,
    private readonly endings: Endings,
    private readonly source: SourceSide,
    private readonly jobFaults: JobFaults,
    private readonly stats: EngineStats,
    private readonly log: Log,
  ) {}

  /** @param stepUs length of the step in simulated time */
  publish(facts: StepFacts, stepUs: Micros): void {
    for (const handle of facts.scheduled) this.scheduled(handle, stepUs);
    for (const handle of facts.preempted) this.preempted(handle);
    for (const handle of facts.finished) {
      const run = this.runs.at(handle);
      if (run !== undefined) run.isEnding = true;
    }
    for (const handle of facts.emitted) this.emitted(handle, facts.endUs);
    for (const handle of facts.finished) this.finishSequence(handle, facts.endUs);
    for (const handle of facts.rejected) this.rejected(handle);
    const endUs = this.clock.toWallUs(facts.endUs);
    if (facts.emitted.length + facts.rejected.length === 0) this.frames.defer(endUs);
    else this.frames.flushStep(endUs);
    for (const handle of facts.held) this.held(handle, facts.endUs);
    if (this.stepTokens > 0) this.stats.observe('iteration_tokens_total', this.stepTokens);
    this.stepTokens = 0;
    for (const run of this.faulty.splice(0)) this.jobFaults.carryOutTokenFault(run);
  }

  private scheduled(handle: SequenceHandle, stepUs: Micros): void {
    const run = this.runs.at(handle);
    if (run === undefined) return;
    run.isScheduled = true;
    const { slot, frames, stats } = this;
    const cachedTokens = slot.engine.cachedTokens(handle);
    const { entry } = this;
    this.address(run);
    entry.kind = 'scheduled';
    entry.reason = 'none';
    entry.offsetUs = 0;
    entry.first = Math.round(stepUs / this.clock.speedup);
    entry.count = run.transferredTokens;
    entry.extra = cachedTokens;
    frames.add(run.outbox, entry);
    const computed = run.job.promptTokens - cachedTokens - run.transferredTokens;
    run.computedTokens = Math.max(0, computed);
    stats.observe('request_prefill_kv_computed_tokens', run.computedTokens);
  }

  private preempted(handle: SequenceHandle): void {
    const run = this.runs.at(handle);
    if (run !== undefined) run.preemptions += 1;
  }

  private emitted(handle: SequenceHandle, endUs: Micros): void {
    const run = this.runs.at(handle);
    // Only runs that generate here stream tokens; the token of a prefill leg is discarded.
    if (run === undefined || run.stage === 'prefill') return;
    const { engine } = this.slot;
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
    this.frames.add(run.outbox, entry);
  }

  /**
   * Whether a fault ends the run before these tokens: they are never published, and the run ends
   * after the step.
   */
  private isStruck(run: Run, first: number): boolean {
    if (!this.jobFaults.isTokenFaultDue(run)) return false;
    run.emitted = first;
    this.faulty.push(run);
    // An engine that has finished the sequence holds nothing for it, except blocks to keep.
    if (run.isEnding) {
      if (run.job.keepsKv) this.slot.engine.releaseHeld(run.handle);
      this.runs.unbind(run);
    }
    return true;
  }

  private finishSequence(handle: SequenceHandle, endUs: Micros): void {
    const run = this.runs.at(handle);
    if (run === undefined) return;
    const { endReason, keepsKv, promptTokens } = run.job;
    const tokens = run.emitted;
    const count = this.slot.engine.tokensInStep(handle);
    const { entry } = this;
    this.address(run);
    entry.kind = 'end';
    entry.reason = endReason;
    entry.offsetUs = this.offsetUs(handle);
    entry.first = tokens;
    entry.count = count;
    entry.extra = 0;
    // The last token is sampled, and needs no KV.
    const heldKv = keepsKv && this.source.keep(run, promptTokens + tokens - 1, endUs);
    entry.tail = heldKv;
    this.frames.add(run.outbox, entry);
    entry.tail = undefined;
    this.note(run, endUs);
    const payload = heldKv === undefined ? {} : { payload: heldKv };
    this.endings.finishRequest(run, { reason: endReason, tokens, ...payload }, heldKv);
  }

  /**
   * Ends a run whose cached share of the prompt is below the client's or the engine's threshold.
   */
  private rejected(handle: SequenceHandle): void {
    const run = this.runs.at(handle);
    if (run === undefined) return;
    const { entry } = this;
    this.address(run);
    entry.kind = 'end';
    entry.reason = 'cache_threshold';
    entry.offsetUs = 0;
    entry.first = run.emitted;
    entry.count = 0;
    entry.extra = 0;
    this.frames.add(run.outbox, entry);
    this.endings.finishRequest(run, { reason: 'cache_threshold', tokens: run.emitted });
  }

  private held(handle: SequenceHandle, endUs: Micros): void {
    const run = this.runs.at(handle);
    if (run === undefined) {
      this.slot.engine.releaseHeld(handle);
      return;
    }
    // The token of a prefill leg counts only when it answers an outside router.
    this.stepTokens += run.computedTokens + (run.job.flow === 'hold' ? 1 : 0);
    this.source.onHeld(run, endUs);
  }

  /**
   * Records how often the engine preempted this request, and the pace that it intended for it, for
   * comparison with a client's measurement.
   */
  private note(run: Run, endUs: Micros): void {
    const { emitted, firstTokenUs, job, preemptions } = run;
    const perTokenUs = emitted > 1 ? (endUs - firstTokenUs) / (emitted - 1) : 0;
    const { stats, log } = this;
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
    const offsetUs = this.slot.engine.tokenOffsetUs(handle) / this.clock.speedup;
    return Math.min(MAX_OFFSET_US, Math.max(0, Math.round(offsetUs)));
  }
}
