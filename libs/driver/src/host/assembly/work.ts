import { EngineEntry } from '../../jobs/engine-entry';
import { Intake } from '../../jobs/intake';
import { IntakeRoom } from '../../jobs/intake-room';
import { NewRuns } from '../../jobs/new-runs';
import { RefusedRuns } from '../../jobs/refused-runs';
import { RunStarter, type StageWork } from '../../jobs/run-start';
import { SimulatedWork } from '../../jobs/simulated-work';
import { StepFrames } from '../../steps/step-frames';
import type { Executor } from '../executor';
import type { Core } from './core';
import type { Ends } from './ends';
import type { Sides } from './sides';
import type { Site } from './site';

/** From a job in a queue to the frames of its tokens. */
export interface Work {
  /** Undefined: the engine does the work. */
  readonly executor: Executor | undefined;
  readonly intake: Intake;
  readonly stepFrames: StepFrames;
}

export function buildWork(site: Site, core: Core, built: Ends & Sides): Work {
  const { endings, target } = built;
  const shared = { ...site, ...core, ...built };
  const executor = site.options.newExecutor?.(site, shared);
  const work = executor
    ? executed(executor, core)
    : new SimulatedWork({ ...shared, entry: new EngineEntry(shared) });
  const refused = new RefusedRuns(shared);
  const runStart = new RunStarter({ ...shared, refused, work });
  const room = new IntakeRoom({ ...site, ...core, target, executor });
  const newRuns = new NewRuns(shared);
  const intake = new Intake({ ...site, ...core, endings, room, newRuns, runStart }, site.log);
  return { executor, intake, stepFrames: new StepFrames(shared) };
}

/** What an executor starts is not on its way into the engine any longer. */
function executed(executor: Executor, { incoming }: Core): StageWork {
  return {
    start: (run, handoff) => {
      incoming.settle(run);
      executor.start(run, handoff);
    },
  };
}
