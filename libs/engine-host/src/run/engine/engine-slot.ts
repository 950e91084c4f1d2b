import type { Alarm, LiveClock } from '@baton/clock';
import type { EngineCounters, EnginePort } from '@baton/engine';
import type { Micros } from '@baton/kernel';

const NO_COUNTS: EngineCounters = {
  steps: 0,
  promptTokensComputed: 0,
  promptTokensCached: 0,
  promptTokensLoadedFromHost: 0,
  promptTokensFetched: 0,
  promptTokensTransferred: 0,
  generatedTokens: 0,
  preemptions: 0,
  prefixQueriesTokens: 0,
  prefixHitsTokens: 0,
  finished: 0,
  aborted: 0,
  rejected: 0,
  drafts: 0,
  draftTokens: 0,
  acceptedTokens: 0,
};

/** Holds the current engine; a new one replaces it after a crash. */
export class EngineSlot {
  /** The current engine; only `replace` changes it. */
  engine: EnginePort;
  /** Counters of engines that were replaced. */
  private former = NO_COUNTS;
  private recover: (error: unknown) => void = (error) => {
    throw error;
  };

  constructor(private readonly build: () => EnginePort) {
    this.engine = build();
  }

  /** Sum over the current and all replaced engines. */
  count(key: keyof EngineCounters): number {
    return this.engine.counters[key] + this.former[key];
  }

  /**
   * @param recover called with the error that the engine threw; without it the error is thrown on
   */
  onCrash(recover: (error: unknown) => void): void {
    this.recover = recover;
  }

  /** The engine broke an invariant. */
  readonly crashed = (error: unknown): void => this.recover(error);

  /** Runs code that uses the engine outside of a step; an error is a crash. */
  guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.recover(error);
    }
  }

  replace(): void {
    const broken = this.engine.counters;
    this.engine = this.build();
    this.former = sumOf(this.former, broken);
  }
}

/** One alarm on simulated time that follows a moving deadline; an error in it is a crash. */
export class WakeUp {
  private alarm: Alarm | undefined;
  private dueUs: Micros | undefined;

  constructor(
    private readonly clock: LiveClock,
    private readonly slot: EngineSlot,
    private readonly ring: () => void,
  ) {}

  /**
   * Rings at `dueUs` unless set again before; undefined for not at all. An alarm whose deadline
   * moved later rings early and is set again.
   */
  set(dueUs: Micros | undefined): void {
    if (dueUs === undefined || (this.dueUs !== undefined && this.dueUs <= dueUs)) return;
    this.cancel();
    this.dueUs = dueUs;
    this.alarm = this.clock.atSim(dueUs, () => {
      this.cancel();
      this.slot.guard(this.ring);
    });
  }

  cancel(): void {
    this.alarm?.cancel();
    this.alarm = undefined;
    this.dueUs = undefined;
  }
}

function sumOf(a: EngineCounters, b: EngineCounters): EngineCounters {
  const keys = Object.keys(a) as (keyof EngineCounters)[];
  const sums = keys.map((key) => [key, a[key] + b[key]]);
  return Object.fromEntries(sums) as unknown as EngineCounters;
}
