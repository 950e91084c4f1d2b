import { LiveClock } from '@baton/clock';
import { Injectable, Optional } from '@nestjs/common';
import { TargetSide } from '../decode/target-side';
import { SourceSide } from '../prefill/source-side';
import type { DropReason } from '../run/endings/ending-table';
import { Endings } from '../run/endings/endings';
import { StepLoop } from '../run/engine/step-loop';
import { Executor } from '../run/jobs/executor';
import { IncomingRuns, type Run } from '../run/runs/run';

/** The resources that parts besides the engine hold for a run. */
@Injectable()
export class RunClaims {
  constructor(
    private readonly incoming: IncomingRuns,
    private readonly source: SourceSide,
    private readonly target: TargetSide,
    private readonly loop: StepLoop,
    private readonly clock: LiveClock,
    endings: Endings,
    @Optional() private readonly executor?: Executor,
  ) {
    endings.onDrop(this.drop);
  }

  readonly drop = (run: Run, why: DropReason): void => {
    const { incoming, executor, source, target, loop, clock } = this;
    incoming.settle(run);
    executor?.cancel(run);
    if (run.fetching) target.dropRun(run, why);
    if (run.stage === 'prefill') source.dropRequest(run.job.requestId, run.epoch, why);
    // Another sequence in an otherwise idle engine can wait for these blocks.
    loop.enter(clock.nowUs());
  };
}
