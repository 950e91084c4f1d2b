import {
  type ClassSummary,
  type CostSummary,
  type Distribution,
  formatSlo,
  INTERVAL_LEVEL,
  roundTo,
} from '@baton/analysis';
import { fileName, shownConfig } from '@baton/config';
import { AS_CONFIGURED } from '../candidates/assumption';
import type { PlanFigures } from '../candidates/plan-task';
import { type Extrapolation, extrapolationsOf } from '../document/extrapolations';
import { describeWorkload, type WorkloadDescription } from '@baton/workload';
import { shownWorkload } from '@baton/replay';
import { gpusOf, overridesOf } from './fleet';
import { usdPerHour } from './choose-fleet';
import { type Breakage, breakage } from './breakage';
import { type FleetAnswers, fleetAnswers } from './fleet-answers';
import { type FleetSensitivity, fleetSensitivity } from './fleet-sensitivity';
import { type FleetIntervals, fleetIntervals } from './fleet-intervals';
import { type FleetsAlike, fleetsAlike } from './fleets-alike';
import type { FleetSpace } from './fleet-space';
import type { LeftOut } from './left-out';
import type { PreparedFleets } from './prepare-fleets';
import type { FleetResult, FleetsFound } from './search-fleets';

type Figure = number | null;

/** A fleet at the highest rate that keeps the SLO; docs/planning.md defines each name. */
export interface FleetDocument {
  readonly name: string;
  readonly kind: string;
  readonly topology: string;
  readonly sized_for: string;
  readonly gpus: Readonly<Record<string, number>>;
  readonly gpus_in_all: number;
  readonly options: Readonly<Record<string, unknown>>;
  readonly usd_per_hour: Figure;
  readonly estimated_rps: Figure;
  /** Number of requests of the workload that the figures cover. */
  readonly requests: number;
  readonly request_rate: Figure;
  readonly goodput_rps: Figure;
  readonly slo_attainment: Figure;
  /** Figures of each SLO class at that rate. Unset: the configuration has no classes. */
  readonly slo_classes?: readonly ClassSummary[];
  readonly ttft_ms: Distribution | null;
  readonly tpot_ms: Distribution | null;
  /** Goodput in each window of the workload. Null: it was not tried in windows. */
  readonly windows_goodput_rps: readonly Figure[] | null;
  /** 80 % intervals of the figures, by their names. Null: no rate keeps the SLO. */
  readonly intervals: FleetIntervals | null;
  readonly cost: CostSummary | null;
  /** Description of the step times, by role. */
  readonly step_times: Readonly<Record<string, string>>;
  readonly on_pareto_front: boolean;
}

/** The result of a search for fleets, independent of threads, machines and clocks. */
export interface FleetsDocument {
  readonly slo: string;
  readonly slo_attainment_target: number;
  readonly load_rps: Figure;
  readonly answers: FleetAnswers;
  readonly not_told_apart: FleetsAlike;
  /** Share of the true values that an interval is designed to contain. */
  readonly interval_level: number;
  readonly breaks_first: Breakage | null;
  /** Of the fleet that `command` starts, at its rate. */
  readonly sensitivity: readonly FleetSensitivity[];
  readonly fleets: readonly FleetDocument[];
  readonly fitted_to_load: readonly FleetDocument[];
  readonly dropped: readonly FleetDocument[];
  readonly candidates: number;
  readonly rungs: readonly { readonly share: number; readonly trials: number }[];
  readonly simulations: number;
  readonly command: string | null;
  readonly notes: readonly string[];
  /**
   * The fleets at their rates, and the one of `command` under the assumptions, whose steps left the
   * measured range.
   */
  readonly extrapolations: readonly Extrapolation[];
  readonly left_out: readonly LeftOut[];
  readonly space: Readonly<Record<string, unknown>>;
  readonly workload: WorkloadDescription;
  readonly seed: number;
  readonly config: Readonly<Record<string, unknown>>;
}

/** @param commandOf  the command line that starts a fleet */
export function fleetsDocument(
  prepared: PreparedFleets,
  found: FleetsFound,
  commandOf: (result: FleetResult) => string,
): FleetsDocument {
  const { context, fleets, space, loadRps, loaded, workloadFlags } = prepared;
  const { config, target, workload } = context;
  const documentOf = (result: FleetResult): FleetDocument => {
    return fleetDocument(result, found.front.includes(result));
  };
  const answers = fleetAnswers(prepared, found);
  return {
    slo: formatSlo(target.slo),
    slo_attainment_target: target.attainment,
    load_rps: roundTo(loadRps, 6),
    answers,
    not_told_apart: fleetsAlike(found, loadRps),
    interval_level: INTERVAL_LEVEL,
    breaks_first: breakage(found, target.attainment),
    sensitivity: fleetSensitivity(found, target.attainment),
    fleets: found.finalists.map(documentOf),
    fitted_to_load: found.forLoad.map(documentOf),
    dropped: found.dropped.map(documentOf),
    candidates: fleets.length,
    rungs: found.rungs,
    simulations: found.simulations,
    command: found.chosen === undefined ? null : commandOf(found.chosen.result),
    notes: prepared.notes,
    extrapolations: extrapolations(found),
    left_out: prepared.leftOut,
    space: shownSpace(space),
    workload: describeWorkload(workload),
    seed: config.seed,
    config: { ...shownConfig(config), workload: shownWorkload(loaded, workloadFlags) },
  };
}

function extrapolations(found: FleetsFound): Extrapolation[] {
  const { finalists, forLoad, chosen, sensitivity } = found;
  const startedName = chosen?.result.fleet.name ?? '';
  return [
    ...[...finalists, ...forLoad].flatMap(({ fleet, measured }) => {
      return extrapolationsOf(fleet.name, null, measured.outside);
    }),
    ...sensitivity
      .filter(({ assumption }) => assumption !== AS_CONFIGURED)
      .flatMap(({ assumption, measured }) => {
        return extrapolationsOf(startedName, assumption.name, measured.outside);
      }),
  ];
}

function fleetDocument(result: FleetResult, isOnFront: boolean): FleetDocument {
  const { fleet, measured } = result;
  const { pools, varied } = fleet;
  const figures: PlanFigures | undefined = measured.figures;
  const gpus = gpusOf(pools);
  const options = Object.entries(varied).map(([key, value]) => [fileName(key), value] as const);
  return {
    name: fleet.name,
    kind: fleet.kind,
    topology: overridesOf(fleet).topology!,
    sized_for: fleet.group,
    gpus: Object.fromEntries(gpus),
    gpus_in_all: [...gpus.values()].reduce((sum, count) => sum + count, 0),
    options: Object.fromEntries(options),
    usd_per_hour: roundTo(usdPerHour(result), 6),
    estimated_rps: roundTo(fleet.estimatedRate, 6),
    requests: measured.requests,
    request_rate: roundTo(measured.rate, 6),
    goodput_rps: roundTo(measured.completedRate, 6),
    slo_attainment: figures?.slo_attainment ?? null,
    ...(figures?.slo_classes && { slo_classes: figures.slo_classes }),
    ttft_ms: figures?.ttft_ms ?? null,
    tpot_ms: figures?.tpot_ms ?? null,
    windows_goodput_rps: result.windows?.map((rps) => roundTo(rps, 6)) ?? null,
    intervals: fleetIntervals(result),
    cost: figures?.cost ?? null,
    step_times: Object.fromEntries(
      pools.map(({ engine }) => [engine.role, engine.options.stepTime.description]),
    ),
    on_pareto_front: isOnFront,
  };
}

function shownSpace(space: FleetSpace): Record<string, unknown> {
  const { budgetUsdPerHour: budget } = space;
  return {
    gpus: Object.fromEntries(space.gpus),
    tensor_parallel_size: space.tensorParallelSizes,
    kinds: space.kinds,
    loads: space.loads,
    budget_usd_per_hour: Number.isFinite(budget) ? budget : null,
    vary: Object.fromEntries(space.vary.map(({ key, values }) => [fileName(key), values])),
    trials: space.trials,
  };
}
