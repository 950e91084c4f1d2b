import { isAggregated, candidateName, paretoFront, promising } from '@baton/planner';
import { openProgress } from '../progress';
import { AS_CONFIGURED, assumptionsOf, concerns } from './assumption';
import { nothingKept } from './nearest-miss';
import type { PreparedPlan } from './prepare-plan';
import {
  bestOf,
  comparable,
  type Contenders,
  type FrontierPoint,
  type PlanResult,
  goodputOf,
  type SensitivityRow,
  type SplitResult,
} from './split-result';
import type { TaskResult, PlanTask } from './task';
import type { TaskPool } from './task-pool';

/** Splits whose estimate is below this share of the best one's are not simulated. */
export const PROMISING_SHARE = 0.4;
/** Loads at which the splits of the front are looked at, as shares of their own highest rates. */
const FRONTIER_LOADS = [0.25, 0.5, 0.75, 0.9] as const;

/**
 * Simulates what is promising, then the front at lower loads, then both contenders under other
 * assumptions.
 *
 * @throws Failure when nothing keeps the target, with the nearest miss
 */
export async function searchSplits(
  prepared: PreparedPlan,
  pool: TaskPool,
  mostSimulated: number,
): Promise<PlanResult> {
  const stages = new Stages(pool);
  const splits = await searchAll(prepared, stages, mostSimulated);
  const rivals = comparable(splits);
  const winner = bestOf(rivals);
  if (winner === undefined || goodputOf(winner) === 0) {
    const run = (tasks: readonly PlanTask[]) => stages.run('nearest miss', tasks);
    throw await nothingKept(prepared, run, mostSimulated);
  }
  const contenders = {
    disaggregated: bestOf(rivals.filter(({ split }) => !isAggregated(split))),
    aggregated: bestOf(rivals.filter(({ split }) => isAggregated(split))),
  };
  return {
    ...{ splits, rivals, winner, contenders },
    frontier: await frontierOf(rivals, stages),
    sensitivity: await sensitivityOf(prepared, stages, contenders),
    simulations: stages.simulations,
  };
}

/** Runs one list of tasks after the other, with a bar for each, and counts. */
class Stages {
  simulations = 0;

  constructor(private readonly pool: TaskPool) {}

  async run(what: string, tasks: readonly PlanTask[]): Promise<TaskResult[]> {
    const progress = await openProgress(what);
    try {
      const results = await this.pool.run(tasks, (done) => progress.update(done, tasks.length));
      for (const { simulations } of results) this.simulations += simulations;
      return results;
    } finally {
      progress.end();
    }
  }
}

async function searchAll(
  { candidates }: PreparedPlan,
  stages: Stages,
  most: number,
): Promise<SplitResult[]> {
  const chosen = promising(candidates, { share: PROMISING_SHARE, most });
  const tasks = chosen.map(({ candidate, estimatedRate }): PlanTask => {
    return { kind: 'search', split: candidate, assumption: AS_CONFIGURED, rate: estimatedRate };
  });
  const measured = await stages.run('searching', tasks);
  const found = new Map(chosen.map(({ candidate }, i) => [candidate, measured[i]]));
  return candidates.map(({ candidate: split, estimatedRate }) => {
    return { name: candidateName(split), split, estimatedRate, measured: found.get(split) };
  });
}

/** The splits that no other beats at its own highest rate, there and at lower loads. */
async function frontierOf(
  splits: readonly SplitResult[],
  stages: Stages,
): Promise<FrontierPoint[]> {
  const full = splits.flatMap(({ name, split, measured }) => {
    if (measured?.figures === undefined) return [];
    return [{ name, split, ...measured, figures: measured.figures }];
  });
  const front = paretoFront(full, costsOf).sort((a, b) => b.completedRate - a.completedRate);
  const tasks = front.flatMap(({ split, rate }) => {
    return FRONTIER_LOADS.map((load): PlanTask => {
      return { kind: 'measure', split, assumption: AS_CONFIGURED, rate: load * rate };
    });
  });
  const measured = await stages.run('frontier', tasks);
  const points = front.flatMap((one, i) => {
    const from = i * FRONTIER_LOADS.length;
    const lower = measured.slice(from, from + FRONTIER_LOADS.length);
    return [...lower.map((at) => ({ ...one, ...at, figures: at.figures! })), one];
  });
  const best = new Set(paretoFront(points, costsOf));
  return points.map((point) => ({ ...point, isOnFront: best.has(point) }));
}

type Point = Pick<FrontierPoint, 'completedRate' | 'figures'>;

/**
 * What a point of the front is compared by. Without gaps between tokens there is nothing to wait
 * for.
 */
function costsOf({ completedRate, figures }: Point): number[] {
  const { ttft_ms: ttft, tpot_ms: tpot } = figures;
  return [ttft.p90 ?? Infinity, tpot.p90 ?? 0, -completedRate];
}

async function sensitivityOf(
  { context }: PreparedPlan,
  stages: Stages,
  contenders: Contenders,
): Promise<SensitivityRow[]> {
  const assumptions = assumptionsOf(context.config);
  const cells = assumptions.flatMap((assumption) => {
    return (['disaggregated', 'aggregated'] as const).flatMap((kind) => {
      const result = contenders[kind];
      if (result === undefined || !concerns(assumption, result.split)) return [];
      // From the same rate on as before: what changes nothing then gives the same answer.
      const { split, estimatedRate: rate } = result;
      const task: PlanTask = { kind: 'search', split, assumption, rate };
      return [{ assumption, kind, task }];
    });
  });
  const measured = await stages.run(
    'sensitivity',
    cells.map(({ task }) => task),
  );
  return [AS_CONFIGURED, ...assumptions].map((assumption) => {
    const under = (kind: keyof Contenders): number | undefined => {
      const i = cells.findIndex((cell) => cell.assumption === assumption && cell.kind === kind);
      return measured[i]?.completedRate ?? contenders[kind]?.measured?.completedRate;
    };
    const goodput = { disaggregated: under('disaggregated'), aggregated: under('aggregated') };
    return { assumption, goodput };
  });
}
