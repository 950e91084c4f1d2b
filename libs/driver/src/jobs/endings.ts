import {
  emptyFrameEntry,
  type EndReason,
  type ErrorCode,
  type UpstreamFailure,
} from '@baton/contract';
import type { EngineStats, Logger } from '@baton/telemetry';
import type { RequestLedger, RequestResult, TakenJob } from '@baton/transport';
import type { Frames } from '../steps/frames';
import type { FaultPlan } from './fault-plan';
import type { FinishedRun } from './finished-runs';
import type { Results } from './results';
import type { Run } from './run';
import type { RunRelease } from './run-release';

export interface EndingsParts {
  readonly release: RunRelease;
  readonly results: Results;
  readonly ledger: RequestLedger;
  readonly frames: Frames;
  readonly stats: EngineStats;
  readonly faults: FaultPlan;
  readonly log: Logger;
}

/**
 * Every way in which a run ends here. Each frees what the run holds at once. A verb names what ends
 * besides the run: the request (its result is stored in the ledger), the job (it leaves the queue),
 * or the run alone.
 */
export class Endings {
  private readonly entry = emptyFrameEntry();

  constructor(private readonly parts: EndingsParts) {}

  /** The engine has finished the sequence, and its last tokens are in the frame. */
  finishRequest(run: Run, result: RequestResult, tail?: string): void {
    const { release, results } = this.parts;
    const finished = results.keep(run, result, tail);
    release.leave(run, 'finished');
    void this.store(finished, run);
  }

  failRequest(run: Run, code: ErrorCode): void {
    this.failSaying(run, code, JSON.stringify(code));
  }

  /** An upstream server has refused the request; the client gets its words. */
  failRequestUpstream(run: Run, failure: UpstreamFailure): void {
    this.failSaying(run, failure.code, JSON.stringify(failure));
  }

  private failSaying(run: Run, code: ErrorCode, tail: string): void {
    const { release, results, stats } = this.parts;
    stats.add('runs_failed');
    const { emitted } = run;
    this.say(run, { reason: 'error', tail });
    const result = { reason: 'error', tokens: emitted, errorCode: code } as const;
    const finished = results.keep(run, result, tail);
    release.release(run, 'aborted');
    void this.store(finished, run);
  }

  /** The ledger knows that the request was aborted; run and job end. */
  abortRun(run: Run): void {
    this.parts.stats.add('runs_aborted');
    this.say(run, { reason: 'abort', tail: undefined });
    this.parts.release.release(run, 'aborted');
    this.removeJob(run.taken);
  }

  /** This run alone ends: another run goes on, or another worker has the job. */
  supersedeRun(run: Run): void {
    this.parts.release.release(run, 'superseded');
    this.excuseRun(run);
  }

  /** A run that a living worker has lost does not count among the runs of its request. */
  excuseRun({ job: { requestId }, epoch }: Run): void {
    if (epoch === 0) return;
    const { stats, ledger, log } = this.parts;
    stats.add('runs_excused');
    ledger.withdraw(requestId, epoch).catch((error: unknown) => {
      log.debug({ err: error, requestId }, 'a lost run counts');
    });
  }

  /** The run ends, and its job goes back to the front of the queue. */
  returnJob(run: Run): void {
    this.parts.release.release(run, 'superseded');
    this.returnTaken(run.taken);
  }

  /**
   * As `returnJob`, because this engine leaves: the run does not count. Resolves when the job is
   * back, or will stall.
   */
  returnJobUncounted(run: Run): Promise<void> {
    this.parts.release.release(run, 'superseded');
    const withdrawn = this.parts.ledger.withdraw(run.job.requestId, run.epoch);
    const back = (): Promise<void> => run.taken.giveBack();
    return this.settled(withdrawn.then(back, back), run.taken);
  }

  /** Run and job end; the request goes on elsewhere, or is over. */
  dropJob(run: Run): void {
    this.parts.release.release(run, 'superseded');
    this.removeJob(run.taken);
  }

  /** Run and job end; another stage has the request, and what this run holds for it stays. */
  passOn(run: Run): void {
    this.parts.release.leave(run, 'handed over');
    this.removeJob(run.taken);
  }

  /** A job without a run leaves the queue. */
  removeJob(taken: TakenJob): void {
    void this.settled(taken.done(), taken);
  }

  /** A job without a run goes back to the front of the queue. */
  returnTaken(taken: TakenJob): void {
    void this.settled(taken.giveBack(), taken);
  }

  private say(run: Run, end: { reason: EndReason; tail: string | undefined }): void {
    const { entry } = this;
    entry.streamId = run.job.streamId;
    entry.epoch = run.epoch;
    entry.kind = 'end';
    entry.reason = end.reason;
    entry.first = run.emitted;
    entry.tail = end.tail;
    this.parts.frames.add(run.outbox, entry);
    this.parts.frames.flushSoon();
  }

  private async store(finished: FinishedRun, run: Run): Promise<void> {
    if (!(await this.parts.results.store(finished))) return;
    this.parts.faults.reached('finished');
    this.removeJob(run.taken);
  }

  private async settled(work: Promise<unknown>, { job }: TakenJob): Promise<void> {
    const { requestId } = job;
    await work.catch((error: unknown) => {
      this.parts.log.debug({ err: error, requestId }, 'job not settled, it will stall and return');
    });
  }
}
