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
  /**
   * The largest value outside of the range, relative to the largest measured one. 1 without any.
   */
  readonly farthestOutside: number;
}

/** The step times of each engine; empty when the server simulates no steps or reports none. */
export function stepTimesIn(samples: readonly Sample[]): EngineStepTimes[] {
  const byEngine = (name: string): Map<string, number> =>
    new Map(samples.flatMap((one) => (one.name === name ? [[engineKeyOf(one), one.value]] : [])));
  const steps = byEngine('baton:steps_outside_range_total');
  const farthest = byEngine('baton:step_farthest_outside_range_ratio');
  const engines = samples.filter(({ name }) => name === 'baton:step_time_info');
  return engines.map((engine) => {
    const { stage = '', method = '', description = '' } = engine.labels;
    const key = engineKeyOf(engine);
    const outsideSteps = steps.get(key);
    const farthestOutside = farthest.get(key) ?? 1;
    return { key, stage, method, description, outsideSteps, farthestOutside };
  });
}

/** The steps of the engines between two readings, one entry per stage and kind of step times. */
export function stepTimesBetween(
  before: readonly EngineStepTimes[],
  after: readonly EngineStepTimes[],
): StepTimesSummary[] {
  const earlier = new Map(before.map(({ key, outsideSteps }) => [key, outsideSteps ?? 0]));
  const groups = new Map<string, StepTimesSummary>();
  for (const one of after) {
    const { stage: role, method, description, outsideSteps, farthestOutside } = one;
    const name = [role, method, description].join(' ');
    const known = groups.get(name);
    const own = outsideSteps === undefined ? null : outsideSteps - (earlier.get(one.key) ?? 0);
    const isFar = own !== null && own > 0 && farthestOutside > 1;
    groups.set(name, {
      ...{ role, method, description },
      steps_outside_range: sumOf(known?.steps_outside_range ?? null, own),
      farthest_outside: maxOf(known?.farthest_outside ?? null, isFar ? farthestOutside : null),
    });
  }
  return [...groups.values()];
}

function sumOf(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : a + b;
}

function maxOf(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}
