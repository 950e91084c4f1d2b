import { LiveClock } from '@baton/clock';
import { type FetchFailure, type TargetAction } from '@baton/handoff';
import { type Micros } from '@baton/kernel';
import { EngineStats } from '@baton/telemetry';
import { Injectable, Optional } from '@nestjs/common';
import { EngineSlot } from '../run/engine/engine-slot';
import { StepLoop } from '../run/engine/step-loop';
import { JobFaults } from '../run/faults/job-faults';
import { RunSpans } from '../run/observers/run-spans';
import { TimelineFacts } from '../run/observers/timeline-facts';
import { type Fetching, type Run } from '../run/runs/run';
import { FailedFetches } from './failed-fetches';

import { Transfers } from './transfers';

type Action<K extends TargetAction['kind']> = Extract<TargetAction, { kind: K }>;

/** The transfers of the KV that runs fetch. */
@Injectable()
export class KvLoads {
  constructor(
    private readonly transfers: Transfers,
    private readonly failedFetches: FailedFetches,
    private readonly jobFaults: JobFaults,
    private readonly slot: EngineSlot,
    private readonly loop: StepLoop,
    private readonly clock: LiveClock,
    private readonly stats: EngineStats,
    @Optional() private readonly timelines?: TimelineFacts,
    @Optional() private readonly spans?: RunSpans,
  ) {}

  /** @param onDone called with the logical instant at which the transfer ends */
  start(run: Run, action: Action<'start-transfer'>, onDone: (completedUs: Micros) => void): void {
    const { transfers, loop, jobFaults } = this;
    if (run.fetching?.reservedUs === undefined) return;
    const startUs = loop.logicalUs(run.fetching.reservedUs);
    run.fetching.transferStartedUs = startUs;
    if (run.job.faults === undefined) {
      transfers.start(run, action, { startUs, onDone });
      return;
    }
    const hurt = jobFaults.onTransfer(run);
    if (hurt !== undefined) transfers.start(run, { ...action, ...hurt }, { startUs, onDone });
  }

  /** The instant at which the KV is there. Undefined: the engine computes the prompt instead. */
  arrived(run: Run, action: Action<'kv-ready'>): Micros | undefined {
    const { fetching } = run;
    if (fetching?.reservedUs === undefined) return undefined;
    if (!fetching.isDeclined)
      return this.count(run, { fetching, reservedUs: fetching.reservedUs, action });
    this.stats.add('kv_fetch_declined');
    this.failedFetches.recompute(run);
    return undefined;
  }

  failed(run: Run, why: FetchFailure): void {
    const { failedFetches, stats } = this;
    stats.add(`kv_fetch_${why}`);
    if (isRefusal(why)) {
      failedFetches.onRefused(run);
      return;
    }
    stats.add('nixl_num_failed_transfers');
    failedFetches.onFailed(run, why);
  }

  /** Counts the arrived KV; returns its instant of arrival. */
  private count(run: Run, { fetching, reservedUs, action }: Arrival): Micros {
    const { transfers, stats, timelines, clock, spans } = this;
    const { transferredBlocks, transferredTokens: tokens } = action;
    const hasMoved = transferredBlocks > 0;
    const atUs = hasMoved ? fetching.transferStartedUs : reservedUs;
    const readyUs = hasMoved ? atUs + transfers.lastSpanUs : reservedUs;
    if (hasMoved) transfers.count(transferredBlocks);
    stats.add('kv_fetched');
    timelines?.note(run, 'transfer', { atUs, endUs: readyUs, tokens });
    if (spans !== undefined) {
      const instants = { startUs: clock.toWallUs(atUs), endUs: clock.toWallUs(readyUs) };
      spans.transferred(run, { tokens, ...instants });
    }
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

/** The run is void for the coordinator, although it has not ended here. */
function isRefusal(why: FetchFailure): boolean {
  return why === 'aborted' || why === 'rejected' || why === 'superseded';
}
