import type { LiveClock } from '@baton/clock';
import type { EngineSlot } from '../host/engine-slot';
import type { KvEvents } from '../kv-events/kv-events';
import type { Frames } from '../steps/frames';
import type { Run, RunTable } from './run';
import type { RunOutcome, RunSpans } from './run-spans';

/** Why a run ends from outside: its request was aborted, or this run of it alone is void. */
export type LettingGo = 'aborted' | 'superseded';

export interface RunReleaseParts {
  readonly slot: EngineSlot;
  readonly runs: RunTable;
  readonly frames: Frames;
  readonly spans: RunSpans;
  readonly kvEvents: KvEvents | undefined;
  readonly clock: LiveClock;
}

/** Frees what a run holds on this engine; the job and the request stay as they are. */
export class RunRelease {
  private letGo: (run: Run, why: LettingGo) => void = () => undefined;

  constructor(private readonly parts: RunReleaseParts) {}

  /** @param letGo  frees what other parts hold; called before the engine forgets the sequence */
  onLettingGo(letGo: (run: Run, why: LettingGo) => void): void {
    this.letGo = letGo;
  }

  /** Takes the run out of the engine. Idempotent. */
  release(run: Run, why: LettingGo): void {
    const { slot, runs } = this.parts;
    if (run.state === 'over') return;
    const { handle } = run;
    runs.remove(run);
    this.letGo(run, why);
    if (handle >= 0) slot.engine.abort(handle);
    this.leave(run, 'released');
  }

  /** For a run whose sequence has left the engine by itself. */
  leave(run: Run, outcome: RunOutcome): void {
    const { spans, runs, kvEvents, frames, clock } = this.parts;
    spans.ended(run, outcome, clock.wall.nowUs());
    runs.remove(run);
    kvEvents?.forget(run.job);
    frames.release(run.outbox);
  }
}
