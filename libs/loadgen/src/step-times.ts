import type { StepTimesSummary } from '@baton/analysis';
import { engineKeyOf, type Sample } from './metric-samples';

/** The step times of one simulated engine, as it reports them. */
export interface EngineStepTimes {
  /** Distinguishes it from the other engines of its page. */
  readonly key: string;
  readonly stage: string;
  readonly method: string;
  readonly description: string;
  /** Count since the engine's start. Undefined: its step times have no range. */
  readonly outsideSteps: number | undefined;
  /** Steps outside of the range whose shape was not measured at all. Undefined without a range. */
  readonly unmeasuredSteps: number | undefined;
  /**
   * The largest value of the others, relative to the largest measured one. 1: none is above it.
   */
  readonly farthestOutside: number;
}

/** The step times of each engine; empty when the server simulates no steps or reports none. */
export function stepTimesIn(samples: readonly Sample[]): EngineStepTimes[] {
  const byEngine = (name: string): Map<string, number> =>
    new Map(samples.flatMap((one) => (one.name === name ? [[engineKeyOf(one), one.value]] : [])));
  const steps = byEngine('baton:steps_outside_range_total');
  const unmeasured = byEngine('baton:steps_of_unmeasured_shape_total');
  const farthest = byEngine('baton:step_farthest_outside_range_ratio');
  const engines = samples.filter(({ name }) => name === 'baton:step_time_info');
  return engines.map((engine) => {
    const { stage = '', method = '', description = '' } = engine.labels;
    const key = engineKeyOf(engine);
    const outsideSteps = steps.get(key);
    const farthestOutside = farthest.get(key) ?? 1;
    const unmeasuredSteps = unmeasured.get(key);
    return { key, stage, method, description, outsideSteps, unmeasuredSteps, farthestOutside };
  });
}

/** The steps of the engines between two readings, one entry per stage and kind of step times. */
export function stepTimesBetween(
  before: readonly EngineStepTimes[],
  after: readonly EngineStepTimes[],
): StepTimesSummary[] {
  const earlier = new Map(before.map((one) => [one.key, one]));
  const groups = new Map<string, StepTimesSummary>();
  for (const one of after) {
    const { stage: role, method, description, farthestOutside } = one;
    const name = [role, method, description].join(' ');
    const known = groups.get(name);
    const start = earlier.get(one.key);
    const own = grown(start?.outsideSteps, one.outsideSteps);
    const unmeasured = grown(start?.unmeasuredSteps, one.unmeasuredSteps);
    const isFar = (own ?? 0) > (unmeasured ?? 0) && farthestOutside > 1;
    groups.set(name, {
      role,
      method,
      description,
      steps_outside_range: sumOf(known?.steps_outside_range ?? null, own),
      steps_of_unmeasured_shape: sumOf(known?.steps_of_unmeasured_shape ?? null, unmeasured),
      farthest_outside: maxOf(known?.farthest_outside ?? null, isFar ? farthestOutside : null),
    });
  }
  return [...groups.values()];
}

/** The increase of a count of an engine, which began at 0. Null: it has none. */
function grown(before: number | undefined, after: number | undefined): number | null {
  return after === undefined ? null : after - (before ?? 0);
}

function sumOf(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : a + b;
}

function maxOf(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}
