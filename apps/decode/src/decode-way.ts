import type { SequenceHandle, StepFacts } from '@baton/engine';
import {
  attachedKv,
  type DecodeStage,
  Endings,
  EngineEntry,
  EXECUTED,
  FailedFetches,
  FaultPlan,
  handedOverKv,
  HostOptions,
  type Run,
  RunStarter,
  RunTable,
  SourceSide,
  StepFrames,
  TargetSide,
} from '@baton/engine-host';
import type { Micros } from '@baton/kernel';
import type { HandoffRecord, TakenJob } from '@baton/transport';
import { Injectable, Optional } from '@nestjs/common';

/**
 * The way of an answer through an engine, in the order in which it happens:
 *
 *     take → reserve → fetch → join → step → report → finish
 *
 * The KV of the prompt comes from a prefill engine, or from where a client's parameters say. An
 * aggregated run computes its prompt here: after `take` it enters the batch at once.
 */
@Injectable()
export class DecodeWay implements DecodeStage {
  constructor(
    private readonly options: HostOptions,
    private readonly starter: RunStarter,
    private readonly entry: EngineEntry,
    private readonly target: TargetSide,
    private readonly source: SourceSide,
    private readonly failed: FailedFetches,
    private readonly runs: RunTable,
    private readonly frames: StepFrames,
    private readonly endings: Endings,
    @Optional() private readonly faults?: FaultPlan,
  ) {
    target.onArrival((run, readyUs) => this.join(run, readyUs));
  }

  /** 1. A job comes from a queue. It becomes a run when the ledger permits it. */
  take(taken: TakenJob): void {
    this.starter.take(taken, (run, handoff) => {
      if (run.stage === 'aggregated') this.entry.enter(run, 'generate');
      else if (run.job.flow === 'attach') this.attach(run);
      else this.reserve(run, handoff);
    });
  }

  /** 2. The sequence waits in the engine for blocks; without a source prefill runs again. */
  private reserve(run: Run, handoff: HandoffRecord | undefined): void {
    this.faults?.reached('decode-begun');
    if (handoff === undefined) this.failed.onSourceGone(run);
    // Only another server can read the KV that a server holds.
    else if (handoff.generation === EXECUTED) this.entry.enter(run, 'generate');
    else {
      const kv = handedOverKv(run.job, handoff);
      this.target.enter(run, kv, () => this.entry.submit(run, 'remote-prefill'));
    }
  }

  /**
   * The same for a client's parameters; impossible ones are served without a transfer, as in vLLM.
   */
  private attach(run: Run): void {
    const kv = attachedKv(run.job, this.options.facts.blockSize);
    if (kv === undefined) this.entry.enter(run, 'generate');
    else this.target.enter(run, kv, () => this.entry.submit(run, 'remote-prefill'));
  }

  get waitingForRoom(): number {
    return this.target.waitingForRoom;
  }

  /** 3. A step begins: runs for which the engine found blocks fetch their KV. */
  fetch(startUs: Micros): boolean {
    return this.target.reserve(startUs);
  }

  /** 4. The KV is there: the sequence joins the batch. */
  private join(run: Run, readyUs: Micros): void {
    this.entry.join(run, readyUs);
  }

  /** 5. A step has ended: each sequence of it has more tokens. */
  step(facts: StepFacts): void {
    const { endUs } = facts;
    for (const handle of facts.emitted) this.frames.tokens(handle, endUs);
    for (const handle of facts.finished) this.finish(handle, endUs);
    for (const handle of facts.rejected) this.reject(handle);
    this.report(facts);
  }

  /** 6. One frame per API process carries the tokens of the whole step. */
  private report(facts: StepFacts): void {
    this.frames.send(facts);
  }

  /**
   * 7. The last tokens leave with the end, and the ledger gets the result. Blocks that the next
   * turn may read stay under a lease.
   */
  private finish(handle: SequenceHandle, endUs: Micros): void {
    const run = this.runs.at(handle);
    if (run === undefined) return;
    const { endReason: reason, keepsKv, promptTokens } = run.job;
    const { emitted: tokens } = run;
    // The last token is sampled, and needs no KV.
    const kept = keepsKv ? this.source.keep(run, promptTokens + tokens - 1, endUs) : undefined;
    this.frames.finished(run, handle, { endUs, tail: kept });
    const payload = kept === undefined ? {} : { payload: kept };
    this.endings.finishRequest(run, { reason, tokens, ...payload }, kept);
  }

  /** The cached share of the prompt is below the client's or the engine's threshold. */
  private reject(handle: SequenceHandle): void {
    const run = this.runs.at(handle);
    if (run === undefined) return;
    this.frames.rejected(run);
    this.endings.finishRequest(run, { reason: 'cache_threshold', tokens: run.emitted });
  }
}
