import { type Micros, type RandomStream, unreachable } from '@baton/kernel';
import { AutoscalerError } from '../driver/bounds';
import { Hpa } from '../hpa/hpa';
import type { Capacities } from '../policies/capacity';
import { Oracle } from '../policies/oracle';
import { RandomCounts } from '../policies/random-counts';
import { RatioKeeper } from '../policies/ratio';
import { RoleSwitch } from '../policies/role-switch';
import { Saturation } from '../policies/saturation';
import { Scheduled } from '../policies/schedule';
import { SlaLoad } from '../policies/sla-load';
import { SlaPlanner } from '../policies/sla-planner';
import { TokenCapacity } from '../policies/token-capacity';
import type { WindowCounts } from '../policies/window-counts';
import type { ScalePolicy } from '../policy';
import type { AutoscalerSpec } from './spec';

/** Inputs of some policies besides metrics. */
export interface AutoscalerWorld {
  /** Capacities of the engines that the cluster can have. */
  readonly capacities: Capacities;
  readonly random: RandomStream;
  /**
   * The engines that the trace needs, and the start-up time of an engine. Unset on a live cluster.
   */
  readonly future?: { readonly needs: WindowCounts; readonly aheadUs: Micros };
}

/** @throws AutoscalerError for an oracle without a trace */
export function buildAutoscaler(spec: AutoscalerSpec, world: AutoscalerWorld): ScalePolicy {
  switch (spec.kind) {
    case 'hpa':
      return new Hpa(spec);
    case 'ratio':
      return new RatioKeeper(spec, new Hpa(spec.inner));
    case 'schedule':
      return new Scheduled(spec);
    case 'wva':
      return new Saturation(spec);
    case 'wva-tokens':
      return new TokenCapacity(spec, world.capacities);
    case 'switch':
      return new RoleSwitch(spec);
    case 'sla':
      return new SlaPlanner(spec, world.capacities);
    case 'sla-load':
      return new SlaLoad(spec, world.capacities);
    case 'random':
      return new RandomCounts(world.random);
    case 'oracle':
      if (world.future !== undefined) return new Oracle(world.future.needs, world.future.aheadUs);
      throw new AutoscalerError(
        'oracle needs a trace. Use it with `baton replay` or `baton plan`.',
      );
    default:
      return unreachable(spec);
  }
}
