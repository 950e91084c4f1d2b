import { LiveClock } from '@baton/clock';
import { emptyFrameEntry } from '@baton/contract';
import type { SequenceHandle, StepFacts } from '@baton/engine';
import { type Micros, usToSeconds } from '@baton/kernel';
import { EngineStats } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { EngineSlot } from '../engine/engine-slot';
import { JobFaults } from '../faults/job-faults';
import { Frames } from '../runs/frames';
import { type Run, RunTable } from '../runs/run';
import { Log } from '../tokens';

const MAX_OFFSET_US = 0xffff;

interface SequenceEnd {
  readonly endUs: Micros;
  readonly tail: string | undefined;
}

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
    private readonly jobFaults: JobFaults,
    private readonly stats: EngineStats,
    private readonly log: Log,
  ) {}

  /**
   * Before the tokens of a step: runs that it scheduled, preempted or ends.
   *
   * @param stepUs length of the step in simulated time
   */
  begin(facts: StepFacts, stepUs: Micros): void {
    for (const handle of facts.scheduled) this.scheduled(handle, stepUs);
    for (const handle of facts.preempted) this.preempted(handle);
    for (const handle of facts.finished) {
      const run = this.runs.at(handle);
      if (run !== undefined) run.isEnding = true;
    }
  }

  /** Sends the entries of the step: at once when there are tokens, else with those of others. */
  send(facts: StepFacts): void {
    const endUs = this.clock.toWallUs(facts.endUs);
    if (facts.emitted.length + facts.rejected.length === 0) this.frames.defer(endUs);
    else this.frames.flushStep(endUs);
  }

  /** After everything of the step: its tokens are counted, and faults of its runs strike. */
  end(): void {
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

  /** The tokens of one sequence in this step. The last ones come with its end. */
  tokens(handle: SequenceHandle, endUs: Micros): void {
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

  /**
   * The end of a sequence, with its last tokens.
   *
   * @param tail the parameters of the blocks that stay for the next turn, if any
   */
  finished(run: Run, handle: SequenceHandle, { endUs, tail }: SequenceEnd): void {
    const { entry } = this;
    this.address(run);
    entry.kind = 'end';
    entry.reason = run.job.endReason;
    entry.offsetUs = this.offsetUs(handle);
    entry.first = run.emitted;
    entry.count = this.slot.engine.tokensInStep(handle);
    entry.extra = 0;
    entry.tail = tail;
    this.frames.add(run.outbox, entry);
    entry.tail = undefined;
    this.note(run, endUs);
  }

  /** The end of a run whose cached share of the prompt is below the threshold. */
  rejected(run: Run): void {
    const { entry } = this;
    this.address(run);
    entry.kind = 'end';
    entry.reason = 'cache_threshold';
    entry.offsetUs = 0;
    entry.first = run.emitted;
    entry.count = 0;
    entry.extra = 0;
    this.frames.add(run.outbox, entry);
  }

  /** A prompt is computed. The token of a prefill leg counts only when it answers a router. */
  held(run: Run): void {
    this.stepTokens += run.computedTokens + (run.job.flow === 'hold' ? 1 : 0);
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
