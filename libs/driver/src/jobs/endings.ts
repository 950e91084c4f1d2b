import {
  emptyFrameEntry,
  type EndReason,
  type ErrorCode,
  type UpstreamFailure,
} from '@baton/contract';
import type { RequestResult } from '@baton/transport';
import type { HostContext } from '../host/host-context';
import type { FinishedRun, FinishedRuns } from './finished-runs';
import type { Run } from './run';
import type { RunOutcome } from './run-spans';

/** Why a run is ended from outside: nobody wants the request, or this run of it alone is void. */
export type LettingGo = 'aborted' | 'superseded';

export interface EndingsOptions {
  readonly finished: FinishedRuns;
  /** Tells both ends of a hand-over; called before the engine forgets the sequence. */
  readonly letGo: (run: Run, why: LettingGo) => void;
}

/** Every way in which a run ends here. Each frees what the run holds at once and is told the ledger where the request ends with it. */
export class Endings {
  private readonly entry = emptyFrameEntry();

  constructor(
    private readonly context: HostContext,
    private readonly options: EndingsOptions,
  ) {}

  /** The engine has finished the sequence, and its last tokens are in the frame. */
  complete(run: Run, result: RequestResult, tail?: string): void {
    const finished = this.remember(run, result, tail);
    this.leave(run, 'finished');
    void this.store(finished, run);
  }

  fail(run: Run, code: ErrorCode): void {
    this.failSaying(run, code, JSON.stringify(code));
  }

  /** An upstream server has refused the request; its words go to the client. */
  failUpstream(run: Run, failure: UpstreamFailure): void {
    this.failSaying(run, failure.code, JSON.stringify(failure));
  }

  private failSaying(run: Run, code: ErrorCode, tail: string): void {
    this.context.stats.add('runs_failed');
    const { emitted } = run;
    this.say(run, { reason: 'error', tail });
    const result = { reason: 'error', tokens: emitted, errorCode: code } as const;
    const finished = this.remember(run, result, tail);
    this.release(run, 'aborted');
    void this.store(finished, run);
  }

  /** The ledger knows it already; the job is removed. */
  abort(run: Run): void {
    this.context.stats.add('runs_aborted');
    this.say(run, { reason: 'abort', tail: undefined });
    this.release(run, 'aborted');
    this.finishJob(run);
  }

  /** Another run goes on, or the job is another worker's now, because this one was late. */
  supersede(run: Run): void {
    this.release(run, 'superseded');
    this.excuse(run);
  }

  /** A run that a living worker has lost is not held against the request. */
  excuse({ job: { requestId }, epoch }: Run): void {
    if (epoch === 0) return;
    this.context.stats.add('runs_excused');
    this.context.transport.ledger.withdraw(requestId, epoch).catch((error: unknown) => {
      this.context.log.debug({ err: error, requestId }, 'a lost run counts');
    });
  }

  /** Puts the job back in front for another worker. */
  giveBack(run: Run): void {
    this.release(run, 'superseded');
    void this.attempt(run, run.taken.giveBack());
  }

  /** As `giveBack`, because this engine leaves: that is not held against the request. Resolves when the job is back, or will stall. */
  withdraw(run: Run): Promise<void> {
    this.release(run, 'superseded');
    const { requestId } = run.job;
    const told = this.context.transport.ledger.withdraw(requestId, run.epoch);
    const back = (): Promise<void> => run.taken.giveBack();
    return this.attempt(run, told.then(back, back));
  }

  /** Nothing is left to do for this job. */
  drop(run: Run): void {
    this.release(run, 'superseded');
    this.finishJob(run);
  }

  /** Another stage has the request: the run ends without touching what it handed over. */
  handOn(run: Run): void {
    this.leave(run, 'handed over');
    this.finishJob(run);
  }

  /** Tells the ledger again what it could not be told; for the sweep. */
  async storeAgain(): Promise<void> {
    for (const finished of this.options.finished.unstored()) await this.tellLedger(finished);
  }

  private release(run: Run, why: LettingGo): void {
    const { engine, runs } = this.context;
    if (run.state === 'over') return;
    const { handle } = run;
    runs.remove(run);
    this.options.letGo(run, why);
    if (handle >= 0) engine.abort(handle);
    this.leave(run, 'released');
  }

  private leave(run: Run, outcome: RunOutcome): void {
    this.context.spans.ended(run, outcome, this.context.clock.wall.nowUs());
    this.context.runs.remove(run);
    this.context.kvEvents?.forget(run.job);
    this.context.frames.release(run.outbox);
  }

  private say(run: Run, end: { reason: EndReason; tail: string | undefined }): void {
    const { entry } = this;
    entry.streamId = run.job.streamId;
    entry.epoch = run.epoch;
    entry.kind = 'end';
    entry.reason = end.reason;
    entry.first = run.emitted;
    entry.tail = end.tail;
    this.context.frames.add(run.outbox, entry);
    this.context.frames.flushSoon();
  }

  private remember(run: Run, result: RequestResult, tail: string | undefined): FinishedRun {
    const { requestId, apiId, streamId } = run.job;
    const endedUs = this.context.clock.wall.nowUs();
    const finished = {
      ...{ requestId, apiId, streamId, result, tail, endedUs },
      epoch: run.epoch,
      payloads: run.payloads,
      isStored: false,
    };
    this.options.finished.add(finished);
    return finished;
  }

  private async store(finished: FinishedRun, run: Run): Promise<void> {
    if (!(await this.tellLedger(finished))) return;
    this.context.faults.reached('finished');
    this.finishJob(run);
  }

  private async tellLedger(finished: FinishedRun): Promise<boolean> {
    const { ledger } = this.context.transport;
    try {
      await ledger.finish(finished.requestId, finished.epoch, finished.result);
      finished.isStored = true;
      return true;
    } catch (error) {
      this.context.log.debug({ err: error, requestId: finished.requestId }, 'result not stored');
      return false;
    }
  }

  private finishJob(run: Run): void {
    void this.attempt(run, run.taken.done());
  }

  private async attempt(run: Run, work: Promise<unknown>): Promise<void> {
    const { requestId } = run.job;
    await work.catch((error: unknown) => {
      this.context.log.debug(
        { err: error, requestId },
        'job not settled, it will stall and return',
      );
    });
  }
}
