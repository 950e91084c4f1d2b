import { AsyncPipelineRunner } from './async-pipeline-runner';
import { AsyncRunner } from './async-runner';
import { PipelineRunner } from './pipeline-runner';
import type { Runner, RunnerParts } from './runner';
import { StepRunner } from './step-runner';

/** Pipeline stages keep their own batches in flight: see docs/engine.md. */
export function runnerOf(parts: RunnerParts): Runner {
  const isAsync = parts.options.asyncScheduling === true;
  if (parts.decode.all.length === 1)
    return isAsync ? new AsyncRunner(parts) : new StepRunner(parts);
  return isAsync ? new AsyncPipelineRunner(parts) : new PipelineRunner(parts);
}
