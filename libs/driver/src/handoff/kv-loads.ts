import type { LiveClock } from '@baton/clock';
import type { FetchFailure, TargetAction } from '@baton/handoff';
import type { Micros } from '@baton/kernel';
import type { EngineStats } from '@baton/telemetry';
import type { EngineSlot } from '../host/engine-slot';
import type { TimelineFacts } from '../host/timeline-facts';
import type { JobFaults } from '../jobs/job-faults';
import type { Fetching, Run } from '../jobs/run';
import type { RunSpans } from '../jobs/run-spans';
import type { StepLoop } from '../steps/step-loop';
import type { FailedFetches } from './failed-fetches';
import type { Transfers } from './transfers';

type Action<K extends TargetAction['kind']> = Extract<TargetAction, { kind: K }>;

export interface KvLoadsParts {
  readonly transfers: Transfers;
  readonly failed: FailedFetches;
  readonly jobFaults: JobFaults;
  readonly slot: EngineSlot;
  readonly loop: StepLoop;
  readonly clock: LiveClock;
  readonly timelines: TimelineFacts;
  readonly spans: RunSpans;
  readonly stats: EngineStats;
}

/** Times transfers of KV, and lets a sequence join the batch when its KV is there. */
export class KvLoads {
  constructor(private readonly parts: KvLoadsParts) {}

  /** @param onDone  called with the logical instant at which the transfer is through */
  start(run: Run, action: Action<'start-transfer'>, onDone: (completedUs: Micros) => void): void {
    const { transfers, loop, jobFaults } = this.parts;
    if (run.fetching?.reservedUs === undefined) return;
    const startUs = loop.logicalUs(run.fetching.reservedUs);
    run.fetching.transferStartedUs = startUs;
    const hurt = jobFaults.onTransfer(run);
    if (hurt !== undefined) transfers.start(run, { ...action, ...hurt }, { startUs, onDone });
  }

  ready(run: Run, action: Action<'kv-ready'>): void {
    const { fetching } = run;
    if (fetching?.reservedUs === undefined) return;
    const { stats, loop, slot, failed, jobFaults } = this.parts;
    if (fetching.isDeclined) {
      stats.add('kv_fetch_declined');
      failed.recompute(run);
      return;
    }
    const readyUs = this.arrived(run, { fetching, reservedUs: fetching.reservedUs, action });
    const { engine } = slot;
    const join = (): void => {
      if (run.handle >= 0) engine.kvArrived(run.handle);
    };
    jobFaults.onDecode(run, readyUs, (joinUs) => loop.enter(joinUs, join));
  }

  failed(run: Run, why: FetchFailure): void {
    const { failed, stats } = this.parts;
    stats.add(`kv_fetch_${why}`);
    if (isRefusal(why)) {
      failed.onRefused(run);
      return;
    }
    stats.add('nixl_num_failed_transfers');
    failed.onFailed(run, why);
  }

  /** Counts what came; returns when it was there. */
  private arrived(run: Run, { fetching, reservedUs, action }: Arrival): Micros {
    const { transfers, stats, timelines, clock, spans } = this.parts;
    const { transferredBytes, transferredTokens: tokens } = action;
    const hasMoved = transferredBytes > 0;
    const atUs = hasMoved ? fetching.transferStartedUs : reservedUs;
    const readyUs = hasMoved ? atUs + transfers.lastSpanUs : reservedUs;
    if (hasMoved) transfers.count(transferredBytes);
    stats.add('kv_fetched');
    timelines.note(run, 'transfer', { atUs, endUs: readyUs, tokens });
    const instants = { startUs: clock.toWallUs(atUs), endUs: clock.toWallUs(readyUs) };
    spans.transferred(run, { ...instants, tokens });
    run.transferredTokens = tokens;
    stats.add('external_prefix_cache_hits', tokens);
    return readyUs;
  }
}

interface Arrival {
  readonly fetching: Fetching;
  readonly reservedUs: Micros;
  readonly action: Action<'kv-ready'>;
}

/** The run is void for the coordinator, though it has not ended here. */
function isRefusal(why: FetchFailure): boolean {
  return why === 'aborted' || why === 'rejected' || why === 'superseded';
}
