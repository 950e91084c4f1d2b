import type { LiveClock } from '@baton/clock';
import type { IncomingRuns, Run } from '../../live-engine/runs/run';
import type { StepLoop } from '../../live-engine/engine/step-loop';
import type { DropReason } from '../endings/endings';
import type { SourceSide } from '../handoff/source-side';
import type { TargetSide } from '../handoff/target-side';
import type { Executor } from '../jobs/executor';

export interface RunClaimsParts {
  readonly incoming: IncomingRuns;
  readonly executor: Executor | undefined;
  readonly source: SourceSide;
  readonly target: TargetSide;
  readonly loop: StepLoop;
  readonly clock: LiveClock;
}

/** The resources that parts besides the engine hold for a run. */
export class RunClaims {
  constructor(private readonly parts: RunClaimsParts) {}

  readonly drop = (run: Run, why: DropReason): void => {
    const { incoming, executor, source, target, loop, clock } = this.parts;
    incoming.settle(run);
    executor?.cancel(run);
    if (run.fetching) target.dropRun(run, why);
    if (run.stage === 'prefill') source.dropRequest(run.job.requestId, run.epoch, why);
    // Another sequence in an otherwise idle engine can wait for these blocks.
    loop.enter(clock.nowUs());
  };
}
