import type { BatonConfig } from '@baton/config';
import { DECODE_SHARE, PREFILL_SHARE } from '../candidates/rate-match';
import type { FleetEngine, FleetEngines } from './fleet-engines';
import { type Fleet, fleetOf, type FleetPool, gpusOf } from './fleet';
import { combinationsOf, type FleetSpace } from './fleet-space';

/** Shares of their full rate that consecutive pools reach (rate matching). */
const SHARES = { prefill: PREFILL_SHARE, decode: DECODE_SHARE, aggregated: 1 } as const;
/** Number of pairs of pools, the cheapest ones, that also get an aggregated engine. */
const MIXED_PAIRS = 4;

/** The group of the largest fleets that GPUs and budget allow. */
export const LARGEST = 'largest';

/** A load, in requests per second, with its name. */
export interface FleetLoad {
  readonly name: string;
  readonly rps: number;
}

/**
 * The fleets of a space. For every combination of options and engines: the smallest fleet that is
 * expected to serve each load, and the largest within the GPUs and the budget.
 */
export function sizeFleets(
  space: FleetSpace,
  engines: FleetEngines,
  loads: readonly FleetLoad[],
): Fleet[] {
  const fleets = combinationsOf(space).flatMap((varied) => {
    return new Sizing(space, engines, varied).fleets(loads);
  });
  const seen = new Set<string>();
  return fleets.filter(({ name }) => !seen.has(name) && seen.add(name));
}

/** The fleets with one combination of options. */
class Sizing {
  private readonly pairs: readonly (readonly [FleetEngine, FleetEngine])[];
  private readonly whole: readonly FleetEngine[];
  private readonly isMixed: boolean;

  constructor(
    private readonly space: FleetSpace,
    engines: FleetEngines,
    private readonly varied: Partial<BatonConfig>,
  ) {
    const { kinds } = space;
    const isSplit = kinds.includes('disaggregated') || kinds.includes('mixed');
    const decode = isSplit ? engines.of('decode', varied) : [];
    const prefill = isSplit ? engines.of('prefill', varied) : [];
    this.pairs = prefill.flatMap((first) => decode.map((second) => [first, second] as const));
    this.isMixed = kinds.includes('mixed');
    const isWhole = kinds.includes('aggregated') || this.isMixed;
    this.whole = isWhole ? engines.of('aggregated', varied) : [];
  }

  fleets(loads: readonly FleetLoad[]): Fleet[] {
    return [...loads.flatMap((load) => this.forLoad(load)), ...this.largest()];
  }

  private forLoad({ name, rps }: FleetLoad): Fleet[] {
    const { kinds } = this.space;
    const split = this.pairs.flatMap((pair) => this.fleet(name, pair, rps));
    const whole = this.whole.flatMap((engine) => this.fleet(name, [engine], rps));
    return [
      ...(kinds.includes('disaggregated') ? split : []),
      ...(kinds.includes('aggregated') ? whole : []),
      ...(this.isMixed ? this.mixed({ name, rps }, split) : []),
    ];
  }

  /** The cheapest pairs, with one aggregated engine instead of the engines whose load it serves. */
  private mixed({ name, rps }: FleetLoad, split: readonly Fleet[]): Fleet[] {
    const cheapest = [...split].sort((a, b) => a.usdPerHour - b.usdPerHour).slice(0, MIXED_PAIRS);
    return cheapest.flatMap(({ pools }) =>
      this.whole.flatMap((engine) => {
        const rest = rps - engine.rateOf(1);
        if (rest <= 0) return [];
        const pair = pools.map((pool) => this.poolFor(pool.engine, rest));
        return this.checked(name, [...pair, { engine, count: 1 }], rps);
      }),
    );
  }

  private fleet(group: string, engines: readonly FleetEngine[], rps: number): Fleet[] {
    const pools = engines.map((engine) => this.poolFor(engine, rps));
    return this.checked(group, pools, rps);
  }

  /** The fewest engines that are expected to serve the load. Undefined: the GPUs do not suffice. */
  private poolFor(engine: FleetEngine, rps: number): FleetPool | undefined {
    const most = this.mostOf(engine);
    for (let count = 1; count <= most; count++) {
      if (engine.rateOf(count) * SHARES[engine.role] >= rps) return { engine, count };
    }
    return undefined;
  }

  private mostOf({ gpu, gpus }: FleetEngine): number {
    return Math.floor((this.space.gpus.get(gpu) ?? 0) / gpus);
  }

  /** Empty when the pools exceed the available GPUs or the budget. */
  private checked(
    group: string,
    pools: readonly (FleetPool | undefined)[],
    estimatedRate: number,
  ): Fleet[] {
    const found = pools.filter((pool) => pool !== undefined);
    if (found.length < pools.length) return [];
    const { gpus, budgetUsdPerHour } = this.space;
    const isThere = [...gpusOf(found)].every(([gpu, count]) => count <= (gpus.get(gpu) ?? 0));
    if (!isThere) return [];
    const fleet = fleetOf({ group, pools: found, varied: this.varied, estimatedRate });
    return fleet.usdPerHour <= budgetUsdPerHour ? [fleet] : [];
  }

  private largest(): Fleet[] {
    const { kinds } = this.space;
    const split = kinds.includes('disaggregated') ? this.pairs : [];
    const whole = kinds.includes('aggregated') ? this.whole.map((engine) => [engine]) : [];
    return [...split, ...whole].flatMap((engines) => {
      const fleets = this.fittingSizes(engines);
      const best = fleets.reduce<Fleet | undefined>((top, one) => {
        return top === undefined || one.estimatedRate > top.estimatedRate ? one : top;
      }, undefined);
      return best === undefined || best.estimatedRate <= 0 ? [] : [best];
    });
  }

  /** For each size of the first pool, the other pools at its rate. */
  private fittingSizes([first, ...others]: readonly FleetEngine[]): Fleet[] {
    return Array.from({ length: this.mostOf(first!) }).flatMap((_none, i) => {
      const rps = first!.rateOf(i + 1) * SHARES[first!.role];
      const rest = others.map((engine) => this.poolFor(engine, rps));
      return this.checked(LARGEST, [{ engine: first!, count: i + 1 }, ...rest], rps);
    });
  }
}
