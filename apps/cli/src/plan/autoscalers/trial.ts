import {
  type ClassSummary,
  summarise,
  type CostRates,
  type RoleScaling,
  type StartupSummary,
} from '@baton/analysis';
import { classOptions, simulate, scenarioOf } from '@baton/simulation';
import { type BatonConfig, isModulePath } from '@baton/config';
import type { PolicyFault } from '@baton/policies';
import { type PreparedReplay, scaledReplay } from '@baton/replay';
import { runWatched } from '../../replay/run-watched';
import type { ReplayFlags } from '../../replay/replay-flags';

/** The result of one autoscaler or one fixed split on the workload. */
export interface ScalingTrial {
  readonly autoscaler: string;
  /** Topology of a fixed split. Null: an autoscaler. */
  readonly topology: string | null;
  /** Share of requests within the SLO. */
  readonly slo_attainment: number | null;
  readonly gpu_hours: number;
  readonly peak_gpus: number;
  readonly changes: number;
  /** Null without prices. */
  readonly usd: number | null;
  /** GPU-hours of demand above the ready engines; `spare_gpu_hours`: of the opposite. */
  readonly short_gpu_hours: number;
  readonly spare_gpu_hours: number;
  readonly ttft_ms_p90: number | null;
  readonly tpot_ms_p90: number | null;
  /** Decisions that the fallback made because the module failed. */
  readonly policy_faults: number;
  /** Engine-hours by what starting engines load. Undefined: no cause is known. */
  readonly startup_engine_hours?: StartupSummary['engine_hours'];
  /** Results of each SLO class. Undefined: the configuration has none. */
  readonly slo_classes?: readonly ClassSummary[];
}

/** Shared by all trials of a comparison. */
export interface TrialSetting {
  readonly prepared: PreparedReplay;
  readonly flags: Pick<ReplayFlags, 'slo' | 'leap'>;
  readonly rates: CostRates | undefined;
  readonly onFault: (fault: PolicyFault) => void;
}

/** The configuration with another autoscaler: a built-in one by its notation, or a module. */
export function withAutoscaler(config: BatonConfig, written: string): BatonConfig {
  return isModulePath(written)
    ? { ...config, scalePolicy: written, autoscaler: undefined }
    : { ...config, scalePolicy: undefined, autoscaler: written };
}

/** The configuration with at least these engines. */
export function withFloor(config: BatonConfig, min: string): BatonConfig {
  return { ...config, min, topology: min };
}

/** The configuration of a fixed split. */
export function withStatic(config: BatonConfig, topology: string): BatonConfig {
  const scheduled = withAutoscaler(config, `schedule:0h=${topology}`);
  return { ...withFloor(scheduled, topology), max: topology };
}

export function tryScaling(
  { prepared, flags, rates, onFault }: TrialSetting,
  config: BatonConfig,
  topology: string | null = null,
): ScalingTrial {
  const { workload } = prepared.loaded;
  const scaled = scaledReplay(config, workload, flags.slo)!;
  const { begin = config.topology, scaling: decided } = scaled;
  const begun = { ...config, topology: begin };
  const scenario = scenarioOf(begun, workload, { leap: flags.leap, scaling: decided });
  let faults = 0;
  const run = runWatched(config, (call) => {
    faults = 0;
    const count = (fault: PolicyFault): void => {
      if (faults++ === 0) onFault(fault);
    };
    return simulate(scenario, { policyWatch: { onFault: count, call } });
  });
  // The demand of a fixed split has the same lower bound as that of an autoscaler.
  const scaling = { ...scaled.measures, fewest: prepared.scaling!.fewest };
  const summary = summarise(run, {
    ...(flags.slo && { slo: flags.slo }),
    scaling,
    wallSeconds: 0,
    seed: config.seed,
    classes: classOptions(scenario),
  });
  const { autoscaling, slo_classes } = summary;
  const { roles, gpu_hours, peak_gpus, events, startups } = autoscaling!;
  const gpuHours = (of: (figures: RoleScaling) => number | null): number =>
    sumOver(roles, (role, figures) => (of(figures) ?? 0) * scaling.gpusPerEngine[role]);
  return {
    autoscaler: topology === null ? scaling.autoscaler : `static ${topology}`,
    topology,
    slo_attainment: summary.slo_attainment,
    gpu_hours: gpu_hours ?? 0,
    peak_gpus,
    changes: events.length,
    usd: rates === undefined ? null : usdOf(rates, roles, scaling.gpusPerEngine),
    short_gpu_hours: gpuHours(({ under_engine_hours }) => under_engine_hours),
    spare_gpu_hours: gpuHours(({ over_engine_hours }) => over_engine_hours),
    ttft_ms_p90: summary.ttft_ms.p90,
    tpot_ms_p90: summary.tpot_ms.p90,
    policy_faults: faults,
    ...(startups && { startup_engine_hours: startups.engine_hours }),
    ...(slo_classes && { slo_classes }),
  };
}

type Roles = Readonly<Partial<Record<keyof CostRates, RoleScaling>>>;

function usdOf(
  rates: CostRates,
  roles: Roles,
  gpusPerEngine: Readonly<Record<keyof CostRates, number>>,
): number {
  return sumOver(roles, (role, { engine_hours }) => {
    return (engine_hours ?? 0) * gpusPerEngine[role] * (rates[role]?.usdPerHour ?? 0);
  });
}

function sumOver(
  roles: Roles,
  of: (role: keyof CostRates, figures: RoleScaling) => number,
): number {
  return Object.entries(roles).reduce(
    (sum, [role, figures]) => sum + of(role as keyof CostRates, figures),
    0,
  );
}
