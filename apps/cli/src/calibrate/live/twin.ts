import type { RunRecord } from '@baton/analysis';
import { simulate } from '@baton/cluster';
import type { KvTransferFit } from '@baton/hardware';
import { TopologyError } from '@baton/placement';
import { resolveConfig, UsageError } from '@baton/runtime';
import { withContentBlock, type Workload } from '@baton/workload';
import { scenarioOf } from '../../scenario/scenario-of';

/** The cluster that is simulated beside the real one. */
export interface TwinOptions {
  /** Options of the cluster as the user gave them, by the names of the configuration. */
  readonly config: Readonly<Record<string, string | boolean>>;
  readonly configFile: string | undefined;
  /** File with the fitted profile. */
  readonly profile: string;
  readonly transfers: Pick<KvTransferFit, 'latencyMs' | 'perTokenMs'> | undefined;
  /** What the server says of itself; a user's word wins. */
  readonly told: Readonly<Record<string, string>>;
}

export interface TwinRun {
  readonly run: RunRecord;
  readonly steps: number;
  readonly stepsOutsideRange: number;
  /** Share of the time in which a step was under way, mean over the engines of a stage. */
  readonly prefillBusy: number;
  readonly decodeBusy: number;
}

/**
 * The same load on the virtual clock, with the fitted step times.
 *
 * @throws UsageError, one sentence
 */
export function twinRun(workload: Workload, options: TwinOptions): TwinRun {
  const { config } = resolveConfig({
    flags: { ...options.told, ...timesOf(options), ...options.config },
    env: process.env,
    file: options.configFile ?? process.env['BATON_CONFIG_FILE'],
  });
  try {
    const scenario = scenarioOf(config, withContentBlock(workload, config.blockSize));
    const run = simulate(scenario);
    const outside = new Set(scenario.pools.map(({ options: { stepTime } }) => stepTime));
    return {
      ...{ run, steps: run.steps },
      stepsOutsideRange: [...outside].reduce(
        (sum, model) => sum + (model.stepsOutsideRange ?? 0),
        0,
      ),
      prefillBusy: busyShare(run, 'prefill'),
      decodeBusy: busyShare(run, 'decode'),
    };
  } catch (error) {
    if (error instanceof TopologyError) throw new UsageError(error.message);
    throw error;
  }
}

function timesOf({ profile, transfers }: TwinOptions): Record<string, string> {
  return {
    ...{ stepTime: 'auto', stepTimeFile: profile },
    // Without a measured one a transfer is part of prefill, and takes no time of its own.
    kvCacheTransferLatency: `${transfers?.latencyMs ?? 0}`,
    kvCacheTransferTimePerToken: `${transfers?.perTokenMs ?? 0}`,
  };
}

function busyShare({ engines }: RunRecord, role: 'prefill' | 'decode'): number {
  const own = engines.filter((engine) => engine.role === role);
  const upUs = own.reduce((sum, engine) => sum + engine.upUs, 0);
  return upUs > 0 ? own.reduce((sum, engine) => sum + engine.busyUs, 0) / upUs : 0;
}
