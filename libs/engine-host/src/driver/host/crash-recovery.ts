import type { EngineSlot } from '../../live-engine/engine/engine-slot';
import type { KvEvents } from '../../live-engine/observers/kv-events';
import type { RunTable } from '../../live-engine/runs/run';
import type { StepLoop } from '../../live-engine/engine/step-loop';
import type { Logger } from '@baton/telemetry';
import type { Endings } from '../endings/endings';
import type { SourceSide } from '../handoff/source-side';
import type { TargetSide } from '../handoff/target-side';
import type { Intake } from '../jobs/intake';

export interface CrashRecoveryParts {
  readonly slot: EngineSlot;
  readonly loop: StepLoop;
  readonly kvEvents: KvEvents | undefined;
  readonly runs: RunTable;
  readonly source: SourceSide;
  readonly target: TargetSide;
  readonly endings: Endings;
  readonly intake: Intake;
  readonly log: Logger;
}

/**
 * Replaces an engine that threw by a new one. Every request of the old engine ends with
 * `engine_error`.
 */
export class CrashRecovery {
  constructor(private readonly parts: CrashRecoveryParts) {}

  readonly recover = (error: unknown): void => {
    const { slot, loop, kvEvents, runs, source, target, endings, intake, log } = this.parts;
    log.error({ err: error }, 'engine failed; its requests end, a new engine takes over');
    loop.reset();
    slot.replace();
    const lost = runs.all();
    for (const run of lost) runs.unbind(run);
    this.each([
      () => kvEvents?.cleared(),
      () => source.reset(),
      ...lost.map((run) => () => endings.failRequest(run, 'engine_error')),
      () => target.reset(),
      () => intake.wake(),
    ]);
  };

  /** One part that fails keeps none of the others from the new engine. */
  private each(parts: readonly (() => void)[]): void {
    for (const part of parts) {
      try {
        part();
      } catch (error) {
        this.parts.log.error({ err: error }, 'a part of the engine did not recover');
      }
    }
  }
}
