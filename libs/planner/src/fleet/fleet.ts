import { type BatonConfig, fileName } from '@baton/config';
import { formatTopology, type Topology } from '@baton/policies';
import { autoscalerIn } from '../search/fleet-scaling';
import { type FleetEngine, sized } from './fleet-engines';
import type { FleetKind } from './fleet-space';

/** Engines of one kind, and their number. */
export interface FleetPool {
  readonly engine: FleetEngine;
  readonly count: number;
}

/** A cluster that a user could buy. */
export interface Fleet {
  readonly name: string;
  readonly kind: FleetKind;
  /** The load that it is sized for. Fleets of one group compete. */
  readonly group: string;
  readonly pools: readonly FleetPool[];
  /** Values of the options that the space varies. */
  readonly varied: Partial<BatonConfig>;
  /** Requests per second that rate matching expects. */
  readonly estimatedRate: number;
  /** All of its engines. */
  readonly usdPerHour: number;
}

export function fleetOf(parts: Pick<Fleet, 'group' | 'pools' | 'varied' | 'estimatedRate'>): Fleet {
  const { pools, varied } = parts;
  const roles = new Set(pools.map(({ engine }) => engine.role));
  const whole: FleetKind = roles.size === 1 ? 'aggregated' : 'disaggregated';
  return {
    ...parts,
    name: nameOf(pools, varied),
    kind: roles.size === 3 ? 'mixed' : whole,
    usdPerHour: pools.reduce((sum, { engine, count }) => sum + count * engine.usdPerHour, 0),
  };
}

/** GPUs by kind. */
export function gpusOf(pools: readonly FleetPool[]): Map<string, number> {
  const gpus = new Map<string, number>();
  for (const { engine, count } of pools) {
    gpus.set(engine.gpu, (gpus.get(engine.gpu) ?? 0) + count * engine.gpus);
  }
  return gpus;
}

/** Engines by role. */
export function countsOf(pools: readonly FleetPool[]): Topology {
  const counts = { prefill: 0, decode: 0, aggregated: 0 };
  for (const { engine, count } of pools) counts[engine.role] = count;
  return counts;
}

export function fleetTopology(pools: readonly FleetPool[]): string {
  return formatTopology(countsOf(pools));
}

/**
 * The options of the configuration that make the fleet. A scaled one begins with all of its
 * engines.
 */
export function overridesOf({ pools, varied }: Pick<Fleet, 'pools' | 'varied'>) {
  const own = pools.map(({ engine }) => {
    return sized(engine.role, engine.gpu, engine.tensorParallelSize);
  });
  // A role without engines gets the options of the last pool, so that no other GPU is named.
  const { gpu, tensorParallelSize } = pools.at(-1)!.engine;
  const base: Partial<BatonConfig> = { gpu, tensorParallelSize };
  const { autoscaler: _named, ...options } = varied;
  const topology = fleetTopology(pools);
  const autoscaler = autoscalerIn(varied);
  const scaled = autoscaler === undefined ? {} : { autoscaler, max: topology };
  return Object.assign({}, base, ...own, options, { topology }, scaled) as Partial<BatonConfig>;
}

/** The name of a fleet, for example `2P3D h200 tp2 + h100, placement pull`. */
function nameOf(pools: readonly FleetPool[], varied: Partial<BatonConfig>): string {
  const engines = pools.map(({ engine: { gpu, tensorParallelSize: size } }) => {
    return size === 1 ? gpu : `${gpu} tp${size}`;
  });
  const options = Object.entries(varied).map(([key, value]) => `${fileName(key)} ${String(value)}`);
  return [`${fleetTopology(pools)} ${engines.join(' + ')}`, ...options].join(', ');
}
