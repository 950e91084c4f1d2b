import type { Executor } from '../../jobs/executor';
import { Intake } from '../../jobs/intake';
import { NewRuns, RefusedRuns, RunStarter, type StageWork } from '../../jobs/run-start';
import { SimulatedWork } from '../../jobs/simulated-work';
import { StepFrames } from '../../steps/step-frames';
import type { Core } from './core';
import type { Sides } from './sides';
import type { Site } from './site';

/** The parts that turn a job of a queue into the frames of its tokens. */
export interface Work {
  /** Undefined when the simulated engine does the work. */
  readonly executor: Executor | undefined;
  readonly intake: Intake;
  readonly stepFrames: StepFrames;
}

export function buildWork(site: Site, core: Core, sides: Sides): Work {
  const shared = { ...site, ...core, ...sides };
  const executor = site.options.newExecutor?.(site, shared);
  const work = executor ? executed(executor, core) : new SimulatedWork(shared);
  const refused = new RefusedRuns(shared);
  const runStart = new RunStarter({ ...shared, refused, work });
  const newRuns = new NewRuns(shared);
  const intake = new Intake({ ...shared, executor, newRuns, runStart });
  return { executor, intake, stepFrames: new StepFrames(shared) };
}

/** A run that an executor starts is no longer on its way into the engine. */
function executed(executor: Executor, { incoming }: Core): StageWork {
  return {
    start: (run, handoff) => {
      incoming.settle(run);
      executor.start(run, handoff);
    },
  };
}
