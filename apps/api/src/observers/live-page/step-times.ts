import type { EnginePresence, PictureStepTimes, Stage, StepTimeOrigin } from '@baton/contract';

interface Alike {
  readonly origin: StepTimeOrigin;
  readonly engines: EnginePresence[];
}

/** The step-time models of the living engines, one entry per model, in the order of engines. */
export function pictureStepTimes(living: readonly EnginePresence[]): PictureStepTimes[] {
  const ways = new Map<string, Alike>();
  for (const engine of living) {
    const { stepTimes: origin } = engine;
    if (origin === undefined) continue;
    const key = `${origin.method} ${origin.description}`;
    const known = ways.get(key);
    if (known === undefined) ways.set(key, { origin, engines: [engine] });
    else known.engines.push(engine);
  }
  return [...ways.values()].map(entryOf);
}

function entryOf({ origin, engines }: Alike): PictureStepTimes {
  const { method, description } = origin;
  const sumOf = (key: string): number | null => {
    const counts = engines.flatMap(({ counters }) => counters[key] ?? []);
    return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
  };
  const farthest = engines.map(({ gauges }) => gauges.farthestOutside ?? 1);
  return {
    method,
    description,
    roles: [...new Set<Stage>(engines.map(({ stage }) => stage))],
    outsideSteps: sumOf('steps_outside_range'),
    unmeasuredSteps: sumOf('steps_of_unmeasured_shape') ?? 0,
    farthestOutside: Math.max(...farthest),
  };
}
