import type { Micros } from '@baton/kernel';
import type {
  EngineSlot,
  Fetching,
  Run,
  RunTable,
  StepLoop,
  TimelineFacts,
} from '@baton/live-engine';
import type { EngineStats } from '@baton/telemetry';
import type { DriverOptions } from '../options';

export interface ReservationsParts {
  readonly options: Pick<DriverOptions, 'kvRecomputeThreshold'>;
  readonly slot: EngineSlot;
  readonly runs: RunTable;
  readonly loop: StepLoop;
  /** Undefined: nobody wants to know. */
  readonly timelines: TimelineFacts | undefined;
  readonly stats: EngineStats;
}

/** Runs that wait for blocks into which their KV is read, in the order that the engine wants. */
export class Reservations {
  private readonly unreserved = new Set<Run>();

  constructor(private readonly parts: ReservationsParts) {}

  get waiting(): number {
    return this.unreserved.size;
  }

  add(run: Run, fetching: Fetching): void {
    run.fetching = fetching;
    this.unreserved.add(run);
  }

  /** An engine at rest has to begin a step to give blocks to the run. */
  awaitStep({ causeUs }: Run): void {
    this.parts.loop.enter(causeUs, () => undefined);
  }

  delete(run: Run): void {
    this.unreserved.delete(run);
  }

  clear(): void {
    this.unreserved.clear();
  }

  /**
   * Hands over the blocks that the engine has found for runs.
   *
   * @param startUs     instant at which a step began, or could not
   * @param onReserved  called with each run that got its blocks and the tokens that it must fetch
   * @returns whether a run got blocks
   */
  reserve(startUs: Micros, onReserved: (run: Run, missingTokens: number) => void): boolean {
    const { slot, runs } = this.parts;
    const { engine } = slot;
    const waitedBefore = this.unreserved.size;
    while (this.unreserved.size > 0) {
      const reservation = engine.reserveNext();
      if (reservation === undefined) break;
      const run = runs.at(reservation.handle);
      if (run?.fetching === undefined) continue;
      this.unreserved.delete(run);
      this.note(run, run.fetching, { startUs, tokens: reservation.missingTokens });
      onReserved(run, run.fetching.isDeclined ? 0 : reservation.missingTokens);
    }
    return this.unreserved.size < waitedBefore;
  }

  private note(run: Run, fetching: Fetching, { startUs, tokens }: Reserved): void {
    const { options, loop, timelines, stats } = this.parts;
    // A loop that catches up begins steps before the instant at which the KV was held.
    const atUs = loop.logicalUs(Math.max(startUs, run.causeUs));
    fetching.reservedUs = atUs;
    fetching.missingTokens = tokens;
    timelines?.note(run, 'reserved', { atUs, tokens });
    // Too little to be worth a transfer counts as if nothing were missing: the holder may free it.
    const isLittle = tokens > 0 && tokens < options.kvRecomputeThreshold;
    fetching.isDeclined = run.stage === 'prefill' && isLittle;
    stats.add('external_prefix_cache_queries', fetching.isDeclined ? 0 : tokens);
  }
}

interface Reserved {
  readonly startUs: Micros;
  readonly tokens: number;
}
