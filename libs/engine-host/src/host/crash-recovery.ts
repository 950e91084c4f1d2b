import { Injectable, Optional } from '@nestjs/common';
import { TargetSide } from '../decode/target-side';
import { SourceSide } from '../prefill/source-side';
import { Endings } from '../run/endings/endings';
import { EngineSlot } from '../run/engine/engine-slot';
import { StepLoop } from '../run/engine/step-loop';
import { Intake } from '../run/jobs/intake';
import { KvEvents } from '../run/observers/kv-events';
import { RunTable } from '../run/runs/run';
import { Log } from '../run/tokens';

/**
 * Replaces an engine that threw by a new one. Every request of the old engine ends with
 * `engine_error`.
 */
@Injectable()
export class CrashRecovery {
  constructor(
    private readonly slot: EngineSlot,
    private readonly loop: StepLoop,
    private readonly runs: RunTable,
    private readonly source: SourceSide,
    private readonly target: TargetSide,
    private readonly endings: Endings,
    private readonly intake: Intake,
    private readonly log: Log,
    @Optional() private readonly kvEvents?: KvEvents,
  ) {
    slot.onCrash(this.recover);
  }

  readonly recover = (error: unknown): void => {
    const { slot, loop, kvEvents, runs, source, target, endings, intake, log } = this;
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
        this.log.error({ err: error }, 'a part of the engine did not recover');
      }
    }
  }
}
