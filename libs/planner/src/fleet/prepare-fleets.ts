import type { CostRates } from '@baton/analysis';
import {
  type BatonConfig,
  type ResolvedConfig,
  UsageError,
  givenFields,
  withFrontEnd,
} from '@baton/config';
import { type GivenRates } from '../costs/read-gpu-prices';
import { ratesOf } from '../costs/rates-of';
import type { SloTarget } from '../candidates/trial';
import { windowsOf } from '../candidates/windows';
import type { EngineOptions } from '@baton/engine';
import { assert } from '@baton/kernel';
import type { EngineRole } from '@baton/policies';
import { describeWorkload, meanRatePerSecond, type Piece, shareWorkload } from '@baton/workload';
import {
  configuredWorkload,
  type LoadedWorkload,
  type ReadingOptions,
  type WorkloadFlags,
} from '@baton/replay';
import { refuseUnscalable, withRate } from '../prepare-plan';
import { autoscalerIn, scalingOf } from '../search/fleet-scaling';
import type { PlanningContext } from '../search/planning-context';
import { Knobs } from '../engines/knobs';
import { countsOf, type Fleet, fleetOf, overridesOf } from './fleet';
import { FleetEngines } from './fleet-engines';
import { type FleetSpace, readFleetSpace } from './fleet-space';
import type { LeftOut } from './left-out';
import { type FleetLoad, sizeFleets } from './size-fleets';

/** The inputs of a search for fleets. */
export interface FleetRequest {
  readonly workload: WorkloadFlags;
  /** Path of the YAML file of the space, or its text between braces. */
  readonly space: string;
  readonly target: SloTarget;
  readonly prices: GivenRates;
  readonly threads: number;
}

/** All inputs that a search depends on. */
export interface PreparedFleets {
  readonly context: PlanningContext;
  readonly requested: BatonConfig;
  readonly space: FleetSpace;
  readonly loaded: LoadedWorkload;
  readonly workloadFlags: WorkloadFlags;
  readonly fleets: readonly Fleet[];
  /** The fleets that differ from one in one setting. */
  readonly movesOf: (fleet: Fleet) => readonly Fleet[];
  readonly windows: readonly Piece[];
  readonly ratesFor: (fleet: Pick<Fleet, 'pools' | 'varied'>) => CostRates;
  readonly loads: readonly FleetLoad[];
  /** Mean rate of the unchanged workload, requests per second. */
  readonly loadRps: number;
  /** Engines of the space that cannot be built. `notes` has one sentence on all of them. */
  readonly leftOut: readonly LeftOut[];
  readonly notes: readonly string[];
}

/**
 * Reads the space, then the workload, and sizes the fleets.
 *
 * @throws UsageError, one sentence
 */
export async function prepareFleets(
  resolved: ResolvedConfig,
  { workload: flags, space: path, target, prices, threads }: FleetRequest,
  onProgress: NonNullable<ReadingOptions['onProgress']>,
): Promise<PreparedFleets> {
  const space = spaceFrom(path);
  const { config: requested, origins } = resolved;
  if (requested.changes !== undefined) {
    throw new UsageError(
      'A search for fleets needs a fixed set of engines. Remove the option changes.',
    );
  }
  const workloadFlags = withRate(flags);
  const { config, loaded, notes } = await configuredWorkload(resolved, workloadFlags, {
    maxModelLen: Infinity,
    onProgress,
  });
  refuseUnscalable(loaded.workload);
  const workload = threads === 1 ? loaded.workload : shareWorkload(loaded.workload);
  const loadRps = meanRatePerSecond(workload);
  const loads = space.loads.map((times) => ({ name: `x${times}`, rps: times * loadRps }));
  const { tpot = Infinity, itl = Infinity } = target.slo;
  const description = describeWorkload(workload);
  const engines = new FleetEngines({
    config,
    space,
    description,
    prices,
    tpotUs: Math.min(tpot, itl),
  });
  const fleets = sizeFleets(space, engines, loads);
  if (fleets.length === 0) throw nothingFits(engines);
  checkAutoscalers(fleets, { config, target });
  const varied = new Set(space.vary.map(({ key }) => key));
  const knobs = new Knobs<Fleet>({
    config,
    isSet: (key) => origins[key] !== 'default' || varied.has(key),
    reusableShare: description.reusableShare,
    vary: [],
    design: {
      settingsOf: (fleet) => fleet.varied,
      withSettings: (fleet, settings) => fleetOf({ ...fleet, varied: settings }),
      topologyOf: ({ pools }) => countsOf(pools),
      enginesOf: (fleet) => (role) => optionsOf(fleet, role),
      clusterOf: overridesOf,
    },
  });
  return {
    context: { config: withFrontEnd(config), workload, target },
    requested,
    space,
    loaded,
    workloadFlags,
    fleets,
    movesOf: (fleet) => knobs.movesOf(fleet),
    windows: windowsOf(description.requests - description.laterTurns),
    loads,
    loadRps,
    ratesFor: (fleet) => {
      const roles = fleet.pools.map(({ engine }) => engine.role);
      return ratesOf({ ...config, ...overridesOf(fleet) }, roles, prices);
    },
    leftOut: engines.leftOut,
    notes: [...notes, ...(engines.note === undefined ? [] : [engines.note])],
  };
}

/** The engine of a role, built with what the space varies. */
function optionsOf({ name, pools }: Fleet, role: EngineRole): EngineOptions {
  const pool = pools.find(({ engine }) => engine.role === role);
  assert(pool !== undefined, `${name} has no ${role} engine`);
  return pool.engine.options;
}

/** @throws UsageError, one sentence, for an autoscaler that cannot scale its fleets */
function checkAutoscalers(
  fleets: readonly Fleet[],
  { config, target }: Pick<PlanningContext, 'config' | 'target'>,
): void {
  const names = new Set<string>();
  for (const fleet of fleets) {
    const name = autoscalerIn(fleet.varied);
    const size = fleet.varied.dataParallelSize ?? config.dataParallelSize;
    if (name === undefined || names.has(`${name} ${size}`)) continue;
    names.add(`${name} ${size}`);
    scalingOf({ ...config, ...overridesOf(fleet) }, target.slo);
  }
}

function spaceFrom(path: string): FleetSpace {
  const given = givenFields('--space', path);
  if (given === undefined) {
    throw new UsageError(`--space must be the path of a YAML file; '${path}' is not.`);
  }
  return readFleetSpace(given.content, given.where);
}

function nothingFits({ leftOut: [first] }: FleetEngines): UsageError {
  const why = first?.why ?? 'its loads need more GPUs or dollars than the space has';
  return new UsageError(`No fleet of the space can be built: ${why.replace(/\.$/, '')}.`);
}
