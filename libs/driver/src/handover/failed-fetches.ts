import type { FetchFailure } from '@baton/handoff';
import { sharedQueue } from '@baton/routing';
import type { HostContext } from '../host/host-context';
import type { Endings } from '../jobs/endings';
import type { Run } from '../jobs/run';

/**
 * What becomes of a request whose KV will not come. A routed one has lost its source: it is prefetched again, or failed, by `worker_loss_policy`.
 * Parameters from outside and faults made on purpose go by `kv_load_failure_policy`; a prefill leg whose earlier turn is gone computes it, as it can.
 */
export class FailedFetches {
  constructor(
    private readonly context: HostContext,
    private readonly endings: Endings,
  ) {}

  onFailed(run: Run, why: FetchFailure): void {
    const { options, log } = this.context;
    log.debug({ requestId: run.job.requestId, why }, 'KV not loaded');
    if (options.strictKv && isUnknown(run, why)) {
      this.endings.fail(run, 'kv_reference_refused');
    } else if (run.job.flow === 'attach' || run.fetching?.hasInjectedFault === true) {
      if (options.kvLoadFailurePolicy === 'fail') this.endings.fail(run, 'kv_load_failed');
      else this.recompute(run);
    } else if (run.job.flow === 'hold') {
      this.recompute(run);
    } else {
      this.onSourceGone(run);
    }
  }

  /** The coordinator knows the run to be void: its job is done with. */
  onRefused(run: Run): void {
    this.endings.drop(run);
  }

  /** Also for a routed job whose hand-over record is gone. */
  onSourceGone(run: Run): void {
    if (this.context.options.workerLossPolicy === 'fail') {
      this.endings.fail(run, 'worker_lost');
      return;
    }
    run.state = 'moving-on';
    this.leaveEngine(run);
    this.endReturned(run).catch((error: unknown) => {
      this.context.log.warn(
        { err: error, requestId: run.job.requestId },
        'not sent back to prefill',
      );
      if (run.state !== 'over') this.context.guard(() => this.endings.giveBack(run));
    });
  }

  /** The engine computes the prompt itself, reserved or not. */
  recompute(run: Run): void {
    const { loop, clock, engine } = this.context;
    loop.enter(clock.nowUs(), () => {
      if (run.handle >= 0) engine.kvFailed(run.handle);
    });
  }

  private leaveEngine(run: Run): void {
    const { engine, runs } = this.context;
    const { handle } = run;
    runs.unbind(run);
    if (handle >= 0) engine.abort(handle);
  }

  /** A prefill of its own for the request, under the next submission. False when another run has it: nothing was changed. */
  async returnToPrefill({ job, epoch }: Run): Promise<boolean> {
    const { transport, clock } = this.context;
    const submission = await transport.ledger.returnToPrefill(job.requestId, epoch);
    if (submission === undefined) return false;
    const causeUs = clock.wall.nowUs();
    const queue = sharedQueue('prefill', job.dataParallelRank);
    await transport.jobs.add(queue, [{ ...job, submission, causeUs }]);
    return true;
  }

  private async endReturned(run: Run): Promise<void> {
    await this.returnToPrefill(run);
    if (run.state !== 'over') this.endings.handOn(run);
  }
}

/** What the holder was asked for and has not, or a holder that there is not; no transfer that began and broke. */
function isUnknown({ job, fetching }: Run, why: FetchFailure): boolean {
  const isOutside = job.flow === 'attach' || job.flow === 'hold';
  const isReference = isOutside && fetching?.hasInjectedFault !== true;
  return isReference && (why === 'expired' || why === 'lost');
}
