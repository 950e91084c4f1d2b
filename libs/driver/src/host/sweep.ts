import type { Alarm } from '@baton/clock';
import { submissionOf } from '@baton/contract';
import type { RequestView } from '@baton/transport';
import type { DecodeSide } from '../handover/decode-side';
import type { PrefillSide } from '../handover/prefill-side';
import type { Endings } from '../jobs/endings';
import type { FinishedRuns } from '../jobs/finished-runs';
import type { Run } from '../jobs/run';
import type { Executor } from './executor';
import type { HostContext } from './host-context';

const SWEEP_EVERY_US = 1_000_000;

export interface SweepSides {
  readonly endings: Endings;
  readonly finished: FinishedRuns;
  readonly prefill: PrefillSide;
  readonly decode: DecodeSide;
  readonly executor: Executor | undefined;
}

/**
 * Once a second: finds out what no message told this engine. Requests that were aborted, taken over or are awaited by nobody end; KV sources
 * that left the cluster are given up; results that could not be stored are stored.
 */
export class Sweep {
  private alarm: Alarm | undefined;
  private isSweeping = false;

  constructor(
    private readonly context: HostContext,
    private readonly sides: SweepSides,
  ) {}

  start(): void {
    const { wall } = this.context.clock;
    this.alarm = wall.around(wall.nowUs() + SWEEP_EVERY_US, () => {
      this.start();
      void this.sweep();
    });
  }

  stop(): void {
    this.alarm?.cancel();
  }

  private async sweep(): Promise<void> {
    const { transport, log, clock } = this.context;
    if (this.isSweeping || !transport.isConnected) return;
    this.isSweeping = true;
    try {
      this.sides.finished.dropOlderThan(clock.wall.nowUs());
      await this.inspectRuns();
      await this.inspectHoldings();
      await this.inspectPaired();
      await this.inspectSources();
      await this.sides.endings.storeAgain();
    } catch (error) {
      log.debug({ err: error }, 'sweep cut short');
    } finally {
      this.isSweeping = false;
    }
  }

  private async inspectRuns(): Promise<void> {
    const runs = this.context.runs.all().filter((run) => run.state === 'running');
    if (runs.length === 0) return;
    const views = await this.context.transport.ledger.inspect(runs.map((run) => run.job.requestId));
    for (const [i, run] of runs.entries()) {
      if (run.state === 'running') this.context.guard(() => this.judge(run, views[i]));
    }
  }

  /**
   * Ends this run alone, not the request in all its epochs: an API that was paused, and taken for dead, submits again when it wakes.
   * Without a record the broker has lost its data, and the API submits again as well.
   */
  private judge(run: Run, view: RequestView | undefined): void {
    const isOrphan = view?.isApiAlive === false && view.stage !== 'finished';
    if (isOrphan) this.abandon(run.job.requestId);
    const isVoid = view === undefined || view.isAborted || view.stage === 'finished';
    if (!isVoid && !isOrphan && view.epoch === run.epoch) return;
    if (isOrphan || view?.isAborted === true) this.context.stats.add('runs_aborted');
    else this.sides.endings.excuse(run);
    this.sides.endings.drop(run);
  }

  private abandon(requestId: string): void {
    this.context.transport.ledger.abandon(requestId).catch((error: unknown) => {
      this.context.log.debug({ err: error, requestId }, 'not marked as abandoned');
    });
  }

  /** Blocks whose request nobody will bring to decode any more are not left to their lease. */
  private async inspectHoldings(): Promise<void> {
    const holdings = this.sides.prefill.routedHoldings();
    if (holdings.length === 0) return;
    const ids = holdings.map(({ requestId }) => requestId);
    const views = await this.context.transport.ledger.inspect(ids);
    for (const [i, { requestId, epoch }] of holdings.entries()) {
      const view = views[i];
      const isOrphan = view !== undefined && view.stage !== 'finished' && !view.isApiAlive;
      if (isOrphan) this.abandon(requestId);
      const isUnwanted = view === undefined || view.isAborted || view.stage === 'finished';
      if (!isUnwanted && !isOrphan) continue;
      this.context.guard(() => this.sides.prefill.letGo(requestId, epoch, 'superseded'));
    }
  }

  /** Prefill legs that go on beside decode's, which may have given up. */
  private async inspectPaired(): Promise<void> {
    const runs = this.sides.executor?.pairedRuns() ?? [];
    if (runs.length === 0) return;
    const views = await this.context.transport.ledger.inspect(runs.map((run) => run.job.requestId));
    for (const [i, run] of runs.entries()) {
      const view = views[i];
      const isOrphan = view?.isApiAlive === false && view.stage !== 'finished';
      if (isOrphan) this.abandon(run.job.requestId);
      const isAwaited =
        view?.stage === 'decode' &&
        !view.isAborted &&
        submissionOf(view.epoch) === submissionOf(run.epoch);
      if (isAwaited && !isOrphan) continue;
      this.context.guard(() => this.sides.endings.drop(run));
    }
  }

  private async inspectSources(): Promise<void> {
    const { decode, executor } = this.sides;
    const sources = [...decode.sources(), ...(executor?.sources() ?? [])];
    if (sources.length === 0) return;
    const engines = await this.context.transport.presence.engines();
    decode.onLiving(engines);
    const living = new Set(engines.map((engine) => engine.engineId));
    for (const source of sources) {
      if (living.has(source)) continue;
      this.context.guard(() => decode.onSourceLost(source));
      this.context.guard(() => executor?.onSourceLost(source));
    }
  }
}
