import { engineKeyOf, type Sample } from './metric-samples';

/** A bound of the buckets of `baton:step_lag_seconds`. */
const LATE_SECONDS = '0.01';
const LATE_MS = 10;
const VOID_SHARE = 0.01;

/** Steps of one simulated engine since its start. */
export interface EngineStepLag {
  /** Distinguishes the engine from the others of its page. */
  readonly key: string;
  readonly stage: string;
  readonly steps: number;
  /** Steps that ended more than 10 ms late on the wall clock. */
  readonly lateSteps: number;
}

/** The lag of each engine's steps; empty when the server simulates no steps or reports none. */
export function stepLagsIn(samples: readonly Sample[]): EngineStepLag[] {
  const onTime = new Map<string, number>();
  const all = new Map<string, number>();
  const stages = new Map<string, string>();
  for (const one of samples) {
    const key = engineKeyOf(one);
    if (one.name === 'baton:step_lag_seconds_count') all.set(key, one.value);
    if (one.name === 'baton:step_time_info') stages.set(key, one.labels['stage'] ?? '');
    if (one.name === 'baton:step_lag_seconds_bucket' && one.labels['le'] === LATE_SECONDS) {
      onTime.set(key, one.value);
    }
  }
  return Array.from(all, ([key, steps]) => {
    const lateSteps = steps - (onTime.get(key) ?? steps);
    return { key, stage: stages.get(key) ?? '', steps, lateSteps };
  });
}

/**
 * Why the engines were too late between two readings for the figures to be believed: over 1 % of
 * the steps of a stage, and more than one, ended over 10 ms late. Null when they were not.
 */
export function lateEngines(
  before: readonly EngineStepLag[],
  after: readonly EngineStepLag[],
): string | null {
  const earlier = new Map(before.map((one) => [one.key, one]));
  const stages = new Map<string, { steps: number; late: number }>();
  for (const { key, stage, steps, lateSteps } of after) {
    const was = earlier.get(key);
    // An engine that has begun again counts from 0.
    const isSame = was !== undefined && was.steps <= steps;
    const sums = stages.get(stage) ?? { steps: 0, late: 0 };
    sums.steps += steps - (isSame ? was.steps : 0);
    sums.late += lateSteps - (isSame ? was.lateSteps : 0);
    stages.set(stage, sums);
  }
  for (const [stage, { steps, late }] of stages) {
    if (late <= Math.max(1, VOID_SHARE * steps)) continue;
    return `${late} of ${steps} ${stage} steps of the server ended more than ${LATE_MS} ms late`;
  }
  return null;
}
