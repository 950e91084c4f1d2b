import { countIn, type JsonFields, isObject } from '@baton/kernel';
import { UsageError } from '@baton/config';
import type { Measured } from './measured';
import { stepsOfRun } from './run-steps';

const MS_PER_SECOND = 1_000;

/** Results of InferenceX, one run each, in the form of its result tables. Times are in seconds. */
export function readInferenceX(path: string, documents: readonly unknown[]): Measured {
  const runs = documents.flatMap((one) => (Array.isArray(one) ? (one as unknown[]) : [one]));
  const parts = runs.map((run) => {
    if (isObject(run)) return readRun(path, run);
    throw new UsageError(`${path} holds an entry that is not a result of InferenceX.`);
  });
  return { steps: parts.flatMap(({ steps }) => steps), notes: parts.flatMap(({ notes }) => notes) };
}

function readRun(path: string, run: JsonFields): Measured {
  const [concurrency, input, output] = ['conc', 'isl', 'osl'].map((key) => countIn(run[key]));
  if (!concurrency || !input || !output) {
    throw new UsageError(`${path} holds no result of InferenceX: conc, isl or osl is missing.`);
  }
  const ms = (...keys: readonly string[]): number | undefined => {
    const seconds = keys.map((key) => countIn(run[key])).find((value) => value !== undefined);
    return seconds === undefined ? undefined : seconds * MS_PER_SECOND;
  };
  const { steps, note } = stepsOfRun({
    concurrency,
    medianTokenGapMs: ms('median_tpot', 'mean_tpot'),
    medianTtftMs: ms('median_ttft', 'mean_ttft'),
    meanInputTokens: input,
    meanOutputTokens: output,
  });
  return { steps, notes: [`${path}: ${note}.`] };
}
