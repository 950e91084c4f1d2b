import { submissionOf } from '@baton/contract';
import type { RequestView } from '@baton/transport';
import { Injectable, Optional } from '@nestjs/common';
import { HeldKv } from '../prefill/held-kv';
import { SourceSide } from '../prefill/source-side';
import { Endings } from '../run/endings/endings';
import { EngineSlot } from '../run/engine/engine-slot';
import { Executor } from '../run/jobs/executor';
import { type Run, RunTable } from '../run/runs/run';
import { Ledger, Log } from '../run/tokens';

/**
 * Compares the runs of this engine with the ledger, and ends those that the ledger does not have.
 */
@Injectable()
export class Inspection {
  constructor(
    private readonly ledger: Ledger,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly endings: Endings,
    private readonly heldKv: HeldKv,
    private readonly source: SourceSide,
    private readonly log: Log,
    @Optional() private readonly executor?: Executor,
  ) {}

  async inspectRuns(): Promise<void> {
    const runs = this.runs.all().filter((run) => run.state === 'running');
    const views = await this.inspectViews(runs.map((run) => run.job.requestId));
    for (const [i, run] of runs.entries()) {
      if (run.state === 'running') this.slot.guard(() => this.judge(run, views[i]));
    }
  }

  /** Frees blocks whose request will not reach decode, before their lease ends. */
  async inspectHoldings(): Promise<void> {
    const { heldKv, slot, source } = this;
    const holdings = heldKv.routed();
    const views = await this.inspectViews(holdings.map(({ requestId }) => requestId));
    for (const [i, { requestId, epoch }] of holdings.entries()) {
      const view = views[i];
      const isOrphan = isOrphaned(view);
      if (isOrphan) this.abandon(requestId);
      const isUnwanted = view === undefined || view.isAborted || view.stage === 'finished';
      if (!isUnwanted && !isOrphan) continue;
      slot.guard(() => source.dropRequest(requestId, epoch, 'superseded'));
    }
  }

  /**
   * Checks prefill legs that run at the same time as decode legs, because the decode leg can have
   * ended.
   */
  async inspectPaired(): Promise<void> {
    const { executor, slot, endings } = this;
    const runs = executor?.pairedRuns() ?? [];
    const views = await this.inspectViews(runs.map((run) => run.job.requestId));
    for (const [i, run] of runs.entries()) {
      const view = views[i];
      const isOrphan = isOrphaned(view);
      if (isOrphan) this.abandon(run.job.requestId);
      const isAwaited =
        view?.stage === 'decode' &&
        !view.isAborted &&
        submissionOf(view.epoch) === submissionOf(run.epoch);
      if (isAwaited && !isOrphan) continue;
      slot.guard(() => endings.end(run, 'drop'));
    }
  }

  private async inspectViews(
    requestIds: readonly string[],
  ): Promise<readonly (RequestView | undefined)[]> {
    return requestIds.length === 0 ? [] : this.ledger.inspect(requestIds);
  }

  /**
   * Ends only this run, not the request in all its epochs: an API that was paused and counted as
   * dead resubmits after the pause. Without a record the broker has lost its data, and the API also
   * resubmits.
   */
  private judge(run: Run, view: RequestView | undefined): void {
    const isOrphan = isOrphaned(view);
    if (isOrphan) this.abandon(run.job.requestId);
    const isVoid = view === undefined || view.isAborted || view.stage === 'finished';
    if (!isVoid && !isOrphan && view.epoch === run.epoch) return;
    const isUnawaited = isOrphan || view?.isAborted === true;
    this.endings.end(run, isUnawaited ? 'abandon' : 'void');
  }

  private abandon(requestId: string): void {
    const { ledger, log } = this;
    ledger.abandon(requestId).catch((error: unknown) => {
      log.debug({ err: error, requestId }, 'not marked as abandoned');
    });
  }
}

/** The API process that awaits the request is gone. */
function isOrphaned(view: RequestView | undefined): boolean {
  return view?.isApiAlive === false && view.stage !== 'finished';
}
