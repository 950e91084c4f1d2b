import { AS_CONFIGURED, type Assumption, concerns } from './assumption';
import { candidateName, isAggregated } from './candidates';
import { nearestMiss } from './nearest-miss';
import { paretoFront } from './pareto';
import type { PlanTask, TaskResult } from './plan-task';
import { type Estimated, promising } from './promising';
import {
  bestOf,
  comparable,
  type Contenders,
  type FrontierPoint,
  goodputOf,
  type PlanResult,
  type SensitivityRow,
  type SplitResult,
} from './split-result';
import type { SloTarget } from './trial';

/** Splits whose estimate is below this share of the best one's are not simulated. */
const PROMISING_SHARE = 0.4;
/** Loads at which the splits of the front are simulated, as shares of their own highest rates. */
const FRONTIER_LOADS = [0.25, 0.5, 0.75, 0.9] as const;

export interface PlanCandidate extends Estimated {
  /** A rate at which its engines are all but idle, requests per second. */
  readonly idleRate: number;
}

/** The candidates of a search, and its target. */
export interface PlanQuestion {
  readonly candidates: readonly PlanCandidate[];
  /** Under which the contenders are compared, beside the configuration itself. */
  readonly assumptions: readonly Assumption[];
  readonly target: SloTarget;
  /** Most splits to simulate, besides the aggregated ones. */
  readonly mostSimulated: number;
}

export type PlanStage = 'searching' | 'frontier' | 'sensitivity' | 'nearest miss';

/** Performs the tasks of a stage in any order; results come in the order of the tasks. */
export type RunTasks = (stage: PlanStage, tasks: readonly PlanTask[]) => Promise<TaskResult[]>;

/**
 * Simulates the promising splits, then the front at lower loads, then both contenders under other
 * assumptions.
 *
 * @throws NothingKept when nothing keeps the target, with the nearest miss; Failure when no engine
 *   can hold a request
 */
export async function searchSplits(
  question: PlanQuestion,
  runTasks: RunTasks,
): Promise<PlanResult> {
  const stages = new Stages(runTasks);
  const splits = await searchAll(question, stages);
  const rivals = comparable(splits);
  const winner = bestOf(rivals);
  if (winner === undefined || goodputOf(winner) === 0) {
    throw await nearestMiss(question, (tasks) => stages.run('nearest miss', tasks));
  }
  const contenders = {
    disaggregated: bestOf(rivals.filter(({ split }) => !isAggregated(split))),
    aggregated: bestOf(rivals.filter(({ split }) => isAggregated(split))),
  };
  return {
    splits,
    rivals,
    winner,
    contenders,
    frontier: await measureFrontier(rivals, stages),
    sensitivity: await measureSensitivity(question.assumptions, stages, contenders),
    simulations: stages.simulations,
  };
}

/** Runs one list of tasks after the other, and counts the simulations. */
class Stages {
  simulations = 0;

  constructor(private readonly runTasks: RunTasks) {}

  async run(stage: PlanStage, tasks: readonly PlanTask[]): Promise<TaskResult[]> {
    const results = await this.runTasks(stage, tasks);
    for (const { simulations } of results) this.simulations += simulations;
    return results;
  }
}

async function searchAll(
  { candidates, mostSimulated: most }: PlanQuestion,
  stages: Stages,
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
async function measureFrontier(
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

/** The costs of a point of the front. Without gaps between tokens the TPOT is 0. */
function costsOf({ completedRate, figures }: Point): number[] {
  const { ttft_ms: ttft, tpot_ms: tpot } = figures;
  return [ttft.p90 ?? Infinity, tpot.p90 ?? 0, -completedRate];
}

async function measureSensitivity(
  assumptions: readonly Assumption[],
  stages: Stages,
  contenders: Contenders,
): Promise<SensitivityRow[]> {
  const cells = assumptions.flatMap((assumption) => {
    return (['disaggregated', 'aggregated'] as const).flatMap((kind) => {
      const result = contenders[kind];
      if (result === undefined || !concerns(assumption, result.split)) return [];
      // Starts at the same rate as before, so that an assumption without effect gives the same
      // result.
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
