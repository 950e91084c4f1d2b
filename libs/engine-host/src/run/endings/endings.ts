import {
  emptyFrameEntry,
  type EndReason,
  type EngineJob,
  type Epoch,
  type ErrorCode,
  type UpstreamFailure,
} from '@baton/contract';
import { EngineStats } from '@baton/telemetry';
import type { RequestResult, TakenJob } from '@baton/transport';
import { Injectable, Optional } from '@nestjs/common';
import { EngineSlot } from '../engine/engine-slot';
import { FaultPlan } from '../engine/fault-plan';
import { StepLoop } from '../engine/step-loop';
import { KvEvents } from '../observers/kv-events';
import { RunSpans } from '../observers/run-spans';
import { Frames } from '../runs/frames';
import { type Run, RunTable } from '../runs/run';
import { Ledger, Log } from '../tokens';
import { type DropReason, type Ending, type EndingCause, ENDINGS } from './ending-table';
import { type FinishedRun, FinishedRuns } from './finished-runs';

/** The result of a request, and the tail of its end entry. */
interface Finish {
  readonly result: RequestResult;
  readonly tail: string | undefined;
}

/** Ends runs, and jobs without a run. The effects of each cause are in `ENDINGS`. */
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

  /** `complete`: the engine has finished the sequence, and its last tokens are in the frame. */
  finishRequest(run: Run, result: RequestResult, tail?: string): void {
    void this.carryOut(run, 'complete', { result, tail });
  }

  /** `fail`: the client gets the code, or the message with which an upstream server refused. */
  failRequest(run: Run, failure: ErrorCode | UpstreamFailure): void {
    const errorCode = typeof failure === 'string' ? failure : failure.code;
    const result = { reason: 'error', tokens: run.emitted, errorCode } as const;
    void this.carryOut(run, 'fail', { result, tail: JSON.stringify(failure) });
  }

  /** `withdraw`: resolves when the job is back, or will stall. */
  withdrawRun(run: Run): Promise<void> {
    return this.carryOut(run, 'withdraw');
  }

  /** All other causes. No effect on a run that is over. */
  end(run: Run, cause: Exclude<EndingCause, 'complete' | 'fail' | 'withdraw'>): void {
    void this.carryOut(run, cause);
  }

  /** The permit of a run that has ended meanwhile: it does not count as a run of the request. */
  excuseRun(requestId: string, epoch: Epoch): void {
    this.stats.add('runs_excused');
    void this.report('withdraw', requestId, epoch);
  }

  /** A job without a run leaves the queue. */
  removeJob(taken: TakenJob): void {
    void this.settled(taken.done(), taken);
  }

  /**
   * A job without a run goes back to the front of the queue; the run that began with its take does
   * not count.
   */
  returnJob(taken: TakenJob): void {
    const { permit, job } = taken;
    if (permit?.kind === 'run') void this.report('withdraw', job.requestId, permit.epoch);
    void this.settled(taken.giveBack(), taken);
  }

  private carryOut(run: Run, cause: EndingCause, finish?: Finish): Promise<void> {
    const { taken, epoch, job } = run;
    const ending: Ending = ENDINGS[cause];
    if (run.state === 'over' || run.state === ending.spares) return Promise.resolve();
    this.count(run, ending);
    if (ending.frame !== undefined) this.addEndFrame(run, ending.frame, finish?.tail);
    const finished = finish && this.finished.keep(run, finish.result, finish.tail);
    this.leave(run, ending);
    const reported = ending.ledger && this.report(ending.ledger, job.requestId, epoch);
    if (finished !== undefined) return this.store(finished, taken);
    if (ending.job === 'removed') return this.settled(taken.done(), taken);
    if (ending.job === 'left') return Promise.resolve(reported);
    // The ledger gets the report before another engine can begin the next run.
    return this.settled(
      Promise.resolve(reported).then(() => taken.giveBack()),
      taken,
    );
  }

  /** A run that has no epoch yet is excused once its permit comes. */
  private count({ epoch }: Run, { counter }: Ending): void {
    if (counter === undefined || (counter === 'runs_excused' && epoch === 0)) return;
    this.stats.add(counter);
  }

  private leave(run: Run, { claims, span = 'released' }: Ending): void {
    const { slot, loop, runs, spans, kvEvents, frames } = this;
    const { handle } = run;
    runs.remove(run);
    if (claims !== 'kept') {
      this.dropClaims(run, claims);
      if (handle >= 0) {
        slot.engine.abort(handle);
        loop.wake();
      }
    }
    spans?.endRun(run, span, frames.nowUs());
    kvEvents?.forget(run.job);
    frames.release(run.outbox);
  }

  private addEndFrame(run: Run, reason: EndReason, tail: string | undefined): void {
    const { entry } = this;
    entry.streamId = run.job.streamId;
    entry.epoch = run.epoch;
    entry.kind = 'end';
    entry.reason = reason;
    entry.first = run.emitted;
    entry.tail = tail;
    this.frames.add(run.outbox, entry);
    this.frames.flushSoon();
  }

  /** Without the report the run counts as lost. */
  private async report(what: 'failRun' | 'withdraw', id: string, epoch: Epoch): Promise<void> {
    await this.ledger[what](id, epoch).catch((error: unknown) => {
      this.log.debug({ err: error, requestId: id, what }, 'ledger has no report on a run');
    });
  }

  /** Stores the result and removes the job, in one step. */
  private async store(finished: FinishedRun, taken: TakenJob): Promise<void> {
    const { faults } = this;
    faults?.reached('ended');
    if (await this.finished.store(finished, taken)) faults?.reached('finished');
  }

  private async settled(work: Promise<unknown>, { job }: TakenJob): Promise<void> {
    // A broken job has no data.
    const requestId = (job as EngineJob | null)?.requestId;
    await work.catch((error: unknown) => {
      this.log.debug({ err: error, requestId }, 'job not settled, it will stall and return');
    });
  }
}
