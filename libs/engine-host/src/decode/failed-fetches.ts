import { LiveClock } from '@baton/clock';
import type { FetchFailure } from '@baton/handoff';
import type { ReturnReason } from '@baton/transport';
import { Injectable } from '@nestjs/common';
import { sharedQueue } from '../routing/job-routing';
import { Endings } from '../run/endings/endings';
import { EngineSlot } from '../run/engine/engine-slot';
import { StepLoop } from '../run/engine/step-loop';
import { type Run, RunTable } from '../run/runs/run';
import { Broker, HostOptions, Log } from '../run/tokens';

/**
 * Decides what happens to a request whose KV will not arrive. A routed request has lost its source:
 * by `worker_loss_policy` it is computed again or fails. `kv_load_failure_policy` applies to
 * parameters from outside and to injected faults. A prefill leg without the KV of its earlier turn
 * computes it.
 */
@Injectable()
export class FailedFetches {
  constructor(
    private readonly options: HostOptions,
    private readonly transport: Broker,
    private readonly clock: LiveClock,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly loop: StepLoop,
    private readonly endings: Endings,
    private readonly log: Log,
  ) {}

  onFailed(run: Run, why: FetchFailure): void {
    const { options, log, endings } = this;
    log.debug({ requestId: run.job.requestId, why }, 'KV not loaded');
    if (options.strictKv && isUnknown(run, why)) {
      endings.failRequest(run, 'kv_reference_refused');
    } else if (run.job.flow === 'attach' || run.fetching?.hasInjectedFault === true) {
      if (options.kvLoadFailurePolicy === 'recompute') this.recompute(run);
      else this.fail(run, why);
    } else if (run.job.flow === 'hold') {
      this.recompute(run);
    } else {
      this.onSourceGone(run, why === 'lost' || why === 'timeout' ? 'source-lost' : 'run-failed');
    }
  }

  /** The coordinator considers the run void: its job is done. */
  onRefused(run: Run): void {
    this.endings.end(run, 'drop');
  }

  /** Called also for a routed job whose hand-over record is gone. */
  onSourceGone(run: Run, why: ReturnReason = 'run-failed'): void {
    const { options, endings, slot, log } = this;
    if (options.workerLossPolicy === 'fail') {
      endings.failRequest(run, 'worker_lost');
      return;
    }
    run.state = 'moving-on';
    this.leaveEngine(run);
    this.endReturned(run, why).catch((error: unknown) => {
      log.warn(
        { err: error, requestId: run.job.requestId },
        'sending a request back to prefill failed',
      );
      slot.guard(() => endings.end(run, 'giveBack'));
    });
  }

  /** The engine computes the prompt itself, with or without reserved blocks. */
  recompute(run: Run): void {
    const { loop, clock, slot } = this;
    loop.enter(clock.nowUs(), () => {
      if (run.handle >= 0) slot.engine.kvFailed(run.handle);
    });
  }

  /** The client gets vLLM's "Internal server error", so only the log names the cause. */
  private fail(run: Run, why: FetchFailure): void {
    const { requestId } = run.job;
    this.log.warn({ requestId, why }, `500: ${KV_FAILURES[why]} (kv_load_failure_policy: fail)`);
    this.endings.failRequest(run, 'kv_load_failed');
  }

  private leaveEngine(run: Run): void {
    const { slot, runs } = this;
    const { handle } = run;
    runs.unbind(run);
    if (handle >= 0) slot.engine.abort(handle);
  }

  /**
   * Starts a new prefill for the request, under the next submission. False, with nothing changed,
   * when another run has it.
   */
  async returnToPrefill({ job, epoch }: Run, why?: ReturnReason): Promise<boolean> {
    const { transport, clock } = this;
    const submission = await transport.ledger.returnToPrefill(job.requestId, epoch, why);
    if (submission === undefined) return false;
    const causeUs = clock.wall.nowUs();
    const queue = sharedQueue('prefill', job.dataParallelRank);
    await transport.jobs.add(queue, [{ ...job, submission, causeUs }]);
    return true;
  }

  private async endReturned(run: Run, why: ReturnReason): Promise<void> {
    await this.returnToPrefill(run, why);
    this.endings.end(run, 'handOn');
  }
}

const KV_FAILURES: Readonly<Record<FetchFailure, string>> = {
  lost: 'the engine that holds the KV is unknown or lost',
  expired: 'the blocks of kv_transfer_params are unknown, expired or used for another request',
  timeout: 'the engine that holds the KV did not answer in time',
  aborted: 'the transfer of the KV was aborted',
  rejected: 'this engine cannot load KV of that form',
  superseded: 'another run of the request has taken over',
};

/**
 * Whether the parameters name unknown blocks or an unknown holder; false for a transfer that broke
 * after its start.
 */
function isUnknown({ job, fetching }: Run, why: FetchFailure): boolean {
  const isOutside = job.flow === 'attach' || job.flow === 'hold';
  const isReference = isOutside && fetching?.hasInjectedFault !== true;
  return isReference && (why === 'expired' || why === 'lost');
}
