import type { Reservation } from '@baton/engine';
import { type Micros } from '@baton/kernel';
import { EngineStats } from '@baton/telemetry';
import { Injectable, Optional } from '@nestjs/common';
import { EngineSlot } from '../run/engine/engine-slot';
import { StepLoop } from '../run/engine/step-loop';
import { TimelineFacts } from '../run/observers/timeline-facts';
import { type Fetching, type Run, RunTable } from '../run/runs/run';
import { HostOptions } from '../run/tokens';

/** The KV that a run must fetch. */
type Missing = Pick<Reservation, 'missingTokens' | 'missingBlocks'>;

const NOTHING: Missing = { missingTokens: 0, missingBlocks: 0 };

/** Runs that wait for blocks for their KV, in the engine's order. */
@Injectable()
export class Reservations {
  private readonly unreserved = new Set<Run>();

  constructor(
    private readonly options: HostOptions,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly loop: StepLoop,
    private readonly stats: EngineStats,
    @Optional() private readonly timelines?: TimelineFacts,
  ) {}

  get waiting(): number {
    return this.unreserved.size;
  }

  add(run: Run, fetching: Fetching): void {
    run.fetching = fetching;
    this.unreserved.add(run);
  }

  delete(run: Run): void {
    this.unreserved.delete(run);
  }

  clear(): void {
    this.unreserved.clear();
  }

  /**
   * Assigns the blocks that the engine has found for runs.
   *
   * @param startUs     instant at which a step began, or could not
   * @param onReserved called with each run that got its blocks, and what it must fetch
   * @returns whether a run got blocks
   */
  reserve(startUs: Micros, onReserved: (run: Run, missing: Missing) => void): boolean {
    const { slot, runs } = this;
    const { engine } = slot;
    const waitedBefore = this.unreserved.size;
    while (this.unreserved.size > 0) {
      const reservation = engine.reserveNext();
      if (reservation === undefined) break;
      const run = runs.at(reservation.handle);
      if (run?.fetching === undefined) continue;
      this.unreserved.delete(run);
      this.note(run, run.fetching, { startUs, tokens: reservation.missingTokens });
      onReserved(run, run.fetching.isDeclined ? NOTHING : reservation);
    }
    return this.unreserved.size < waitedBefore;
  }

  private note(run: Run, fetching: Fetching, { startUs, tokens }: Reserved): void {
    const { options, loop, timelines, stats } = this;
    // A loop that catches up can begin steps before the instant at which the KV was held.
    const atUs = loop.logicalUs(Math.max(startUs, run.causeUs));
    fetching.reservedUs = atUs;
    fetching.missingTokens = tokens;
    timelines?.note(run, 'reserved', { atUs, tokens });
    // Missing tokens below the threshold of a transfer count as none: the holder can free them.
    const isLittle = tokens > 0 && tokens < options.kvRecomputeThreshold;
    fetching.isDeclined = run.stage === 'prefill' && isLittle;
    stats.add('external_prefix_cache_queries', fetching.isDeclined ? 0 : tokens);
  }
}

interface Reserved {
  readonly startUs: Micros;
  readonly tokens: number;
}
