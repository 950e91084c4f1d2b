import { Injectable, Optional } from '@nestjs/common';
import { Ledger, Log } from '../../live-engine/tokens';
import {
  emptyFrameEntry,
  type EndReason,
  type EngineJob,
  type Epoch,
  type ErrorCode,
  type UpstreamFailure,
} from '@baton/contract';
import { EngineSlot } from '../../live-engine/engine/engine-slot';
import { Frames } from '../../live-engine/runs/frames';
import { KvEvents } from '../../live-engine/observers/kv-events';
import { type Run, RunTable } from '../../live-engine/runs/run';
import { type RunOutcome, RunSpans } from '../../live-engine/observers/run-spans';
import { StepLoop } from '../../live-engine/engine/step-loop';
import { EngineStats } from '@baton/telemetry';
import type { RequestResult, TakenJob } from '@baton/transport';
import { FaultPlan } from '../faults/fault-plan';
import { type FinishedRun, FinishedRuns } from './finished-runs';

/** The reason why a run ends from outside: its request was aborted, or only this run is void. */
export type DropReason = 'aborted' | 'superseded';

/**
 * All ways in which a run ends in this process. Each frees the resources of the run immediately.
 * The name of a method states what ends besides the run: the request (its result is stored in the
 * ledger), the job (it leaves the queue), or nothing.
 */
@Injectable()
export class Endings {
  private readonly entry = emptyFrameEntry();

  private dropClaims: (run: Run, why: DropReason) => void = () => undefined;

  constructor(
    private readonly slot: EngineSlot,
    private readonly loop: StepLoop,
    private readonly runs: RunTable,
    private readonly finished: FinishedRuns,
    private readonly ledger: Ledger,
    private readonly frames: Frames,
    private readonly stats: EngineStats,
    private readonly log: Log,
    @Optional() private readonly spans?: RunSpans,
    @Optional() private readonly kvEvents?: KvEvents,
    @Optional() private readonly faults?: FaultPlan,
  ) {}

  /**
   * @param dropClaims frees the resources in other parts; called before the engine drops the
   * sequence
   */
  onDrop(dropClaims: (run: Run, why: DropReason) => void): void {
    this.dropClaims = dropClaims;
  }

  /** The engine has finished the sequence, and its last tokens are in the frame. */
  finishRequest(run: Run, result: RequestResult, tail?: string): void {
    const finished = this.finished.keep(run, result, tail);
    this.leave(run, 'finished');
    void this.store(finished, run);
  }

  failRequest(run: Run, code: ErrorCode): void {
    this.failWith(run, code, JSON.stringify(code));
  }

  /** An upstream server has refused the request; the client gets its message. */
  failRequestUpstream(run: Run, failure: UpstreamFailure): void {
    this.failWith(run, failure.code, JSON.stringify(failure));
  }

  private failWith(run: Run, code: ErrorCode, tail: string): void {
    this.stats.add('runs_failed');
    const { emitted } = run;
    this.addEndFrame(run, { reason: 'error', tail });
    const result = { reason: 'error', tokens: emitted, errorCode: code } as const;
    const finished = this.finished.keep(run, result, tail);
    this.release(run, 'aborted');
    void this.store(finished, run);
  }

  /** The ledger records the request as aborted; run and job end. */
  abortRun(run: Run): void {
    this.stats.add('runs_aborted');
    this.addEndFrame(run, { reason: 'abort', tail: undefined });
    this.release(run, 'aborted');
    this.removeJob(run.taken);
  }

  /** Only this run ends: another run continues, or another worker has the job. */
  supersedeRun(run: Run): void {
    this.release(run, 'superseded');
    this.uncountRun(run);
  }

  /** A run whose lock is lost while its worker is alive does not count as a run of the request. */
  uncountRun({ job: { requestId }, epoch }: Run): void {
    if (epoch === 0) return;
    const { stats, ledger, log } = this;
    stats.add('runs_excused');
    ledger.withdraw(requestId, epoch).catch((error: unknown) => {
      log.debug({ err: error, requestId }, 'a lost run counts');
    });
  }

  /** The run has failed, and its job goes back to the front of the queue. */
  returnJob(run: Run): void {
    void this.returnAfter(run, (id, epoch) => this.ledger.failRun(id, epoch));
  }

  /**
   * As `returnJob`, because this engine leaves: the run does not count. Resolves when the job is
   * back, or will stall.
   */
  returnJobUncounted(run: Run): Promise<void> {
    return this.returnAfter(run, (id, epoch) => this.ledger.withdraw(id, epoch));
  }

  /** The ledger gets the report about the run before another engine can begin the next one. */
  private returnAfter(run: Run, report: (id: string, epoch: Epoch) => Promise<void>) {
    this.release(run, 'superseded');
    const back = (): Promise<void> => run.taken.giveBack();
    const reported = report(run.job.requestId, run.epoch);
    return this.settled(reported.then(back, back), run.taken);
  }

  /** Run and job end; the request continues elsewhere or has ended. */
  dropJob(run: Run): void {
    this.release(run, 'superseded');
    this.removeJob(run.taken);
  }

  /**
   * Run and job end; another stage has the request, and the KV that this run holds for it stays.
   */
  passOn(run: Run): void {
    this.leave(run, 'handed over');
    this.removeJob(run.taken);
  }

  /** A job without a run leaves the queue. */
  removeJob(taken: TakenJob): void {
    void this.settled(taken.done(), taken);
  }

  /**
   * A job without a run goes back to the front of the queue; the run that began with its take does
   * not count.
   */
  returnTakenUncounted(taken: TakenJob): void {
    const { permit, job } = taken;
    const epoch = permit?.kind === 'run' ? permit.epoch : 0;
    if (epoch > 0) void this.settled(this.ledger.withdraw(job.requestId, epoch), taken);
    this.returnTaken(taken);
  }

  /** A job without a run goes back to the front of the queue. */
  returnTaken(taken: TakenJob): void {
    void this.settled(taken.giveBack(), taken);
  }

  /** Removes the run from the engine; job and request do not change. Idempotent. */
  private release(run: Run, why: DropReason): void {
    const { slot, loop, runs } = this;
    if (run.state === 'over') return;
    const { handle } = run;
    runs.remove(run);
    this.dropClaims(run, why);
    if (handle >= 0) {
      slot.engine.abort(handle);
      loop.wake();
    }
    this.leave(run, 'released');
  }

  /** Frees the resources of a run whose sequence has already left the engine. */
  private leave(run: Run, outcome: RunOutcome): void {
    const { spans, runs, kvEvents, frames } = this;
    spans?.endRun(run, outcome, frames.nowUs());
    runs.remove(run);
    kvEvents?.forget(run.job);
    frames.release(run.outbox);
  }

  private addEndFrame(run: Run, end: { reason: EndReason; tail: string | undefined }): void {
    const { entry } = this;
    entry.streamId = run.job.streamId;
    entry.epoch = run.epoch;
    entry.kind = 'end';
    entry.reason = end.reason;
    entry.first = run.emitted;
    entry.tail = end.tail;
    this.frames.add(run.outbox, entry);
    this.frames.flushSoon();
  }

  /** Stores the result and removes the job, in one step. */
  private async store(finished: FinishedRun, run: Run): Promise<void> {
    const { faults } = this;
    faults?.reached('ended');
    if (await this.finished.store(finished, run.taken)) faults?.reached('finished');
  }

  private async settled(work: Promise<unknown>, { job }: TakenJob): Promise<void> {
    // A broken job has no data.
    const requestId = (job as EngineJob | null)?.requestId;
    await work.catch((error: unknown) => {
      this.log.debug({ err: error, requestId }, 'job not settled, it will stall and return');
    });
  }
}
