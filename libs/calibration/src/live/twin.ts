import type { RunRecord } from '@baton/analysis';
import type { KvTransferFit } from '../fits/kv-transfer-fit';
import { simulate, scenarioOf } from '@baton/simulation';
import { type BatonConfig, resolveConfig, UsageError } from '@baton/config';
import { TopologyError } from '@baton/policies';
import { withContentBlock, type Workload } from '@baton/workload';

type Options = Readonly<Record<string, string | boolean>>;

/** Options of the cluster from the user, by the names of the configuration. */
export interface GivenOptions {
  readonly cluster: Options;
  readonly configFile: string | undefined;
}

/** The simulated copy of the real cluster. */
export interface TwinOptions extends GivenOptions {
  /** File with the fitted profile. */
  readonly profile: string;
  readonly transfers: Pick<KvTransferFit, 'latencyMs' | 'perTokenMs'> | undefined;
  /** The server's own figures. The user's options take precedence. */
  readonly reported: Readonly<Record<string, string>>;
}

export interface TwinRuns {
  readonly runs: readonly RunRecord[];
  readonly steps: number;
  readonly stepsOutsideRange: number;
  /** Share of the time during which a step was under way on decode, mean over the engines, 0..1. */
  readonly decodeBusy: number;
}

/**
 * The configuration of the simulated twin.
 *
 * @param known defaults; the options of the user override them
 * @throws UsageError, one sentence
 */
export function simulatedConfig(
  { cluster, configFile }: GivenOptions,
  known: Options = {},
): BatonConfig {
  return resolveConfig({
    flags: { ...known, ...cluster },
    env: process.env,
    file: configFile ?? process.env['BATON_CONFIG_FILE'],
  }).config;
}

/**
 * Simulates each of the loads with the fitted step times.
 *
 * @throws UsageError, one sentence
 */
export function twinRuns(workloads: readonly Workload[], options: TwinOptions): TwinRuns {
  // The time outside of the engines was measured, and the caller adds it.
  const config: BatonConfig = {
    ...simulatedConfig(options, { ...options.reported, ...timesOf(options) }),
    frontend: 'none',
  };
  try {
    const scenarios = workloads.map((workload) =>
      scenarioOf(config, withContentBlock(workload, config.blockSize)),
    );
    const runs = scenarios.map((scenario) => simulate(scenario));
    const models = scenarios.flatMap(({ pools }) => pools.map((pool) => pool.options.stepTime));
    const sum = (counts: readonly number[]): number => counts.reduce((all, own) => all + own, 0);
    return {
      runs,
      steps: sum(runs.map(({ steps }) => steps)),
      stepsOutsideRange: sum([...new Set(models)].map((model) => model.stepsOutsideRange ?? 0)),
      decodeBusy: decodeBusy(runs),
    };
  } catch (error) {
    if (error instanceof TopologyError) throw new UsageError(error.message);
    throw error;
  }
}

function timesOf({ profile, transfers }: TwinOptions): Record<string, string> {
  return {
    stepTime: 'auto',
    stepTimeFile: profile,
    // A transfer that was not measured is part of prefill and takes no time of its own.
    kvCacheTransferLatency: `${transfers?.latencyMs ?? 0}`,
    kvCacheTransferTimePerToken: `${transfers?.perTokenMs ?? 0}`,
  };
}

function decodeBusy(runs: readonly RunRecord[]): number {
  const own = runs.flatMap(({ engines }) => engines).filter(({ role }) => role === 'decode');
  const upUs = own.reduce((sum, engine) => sum + engine.upUs, 0);
  return upUs > 0 ? own.reduce((sum, engine) => sum + engine.busyUs, 0) / upUs : 0;
}
