import { isObject, type RandomStream } from '@baton/kernel';
import { type EngineRole, type Topology } from '../../placement/topology/topology';
import { Guarded, originOf, type OwnSpec, type PolicyWatch } from '../../placement/guarded';
import { clusterValue, engineValue, type ScaleMetric } from '../metrics';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import { enginesIn, ROLES } from '../sample';
import type { Capacities } from './capacity';

/** The facts that a user's policy can read when it decides. */
export interface OwnScaleContext extends ScaleContext {
  /** Capacity of an engine without a queue, by role, from the step-time model. */
  readonly capacities: Capacities;
  /**
   * A metric as `hpa:` reads it, latencies in seconds; `running` and `kv` are means over ready
   * engines. Undefined when nothing was measured since the last scrape.
   */
  value(metric: ScaleMetric, role: EngineRole): number | undefined;
}

/** An autoscaler from a user's module. */
export interface OwnScalePolicy {
  decide(context: OwnScaleContext): ScaleDecision;
}

export interface OwnScalerParts {
  readonly random: RandomStream;
  readonly capacities: Capacities;
  /** Decides when the module does not. It runs at every decision, because it may have state. */
  readonly fallback: ScalePolicy;
  readonly watch: PolicyWatch;
}

/** Keeps the current engines. */
export const KEEP: ScalePolicy = { decide: ({ counts }) => ({ counts }) };

/** A user's own autoscaler. A built-in fallback decides when it does not. */
export class OwnScaler implements ScalePolicy {
  private readonly own: Guarded<OwnScaleContext, ScaleDecision>;

  constructor(
    spec: OwnSpec<OwnScalePolicy>,
    private readonly parts: OwnScalerParts,
  ) {
    const stage = 'cluster';
    const own = spec.module.create({ stage, random: parts.random });
    this.own = new Guarded(
      {
        method: 'decide',
        ask: (context) => own.decide(context),
        isAnswer: isDecision,
        expected: ({ bounds }) => `counts with a number of engines for ${namesIn(bounds.max)}`,
      },
      originOf(spec, stage, own),
      parts.watch,
    );
  }

  decide(context: ScaleContext): ScaleDecision {
    const { capacities, fallback } = this.parts;
    const otherwise = fallback.decide(context);
    const value: OwnScaleContext['value'] = (metric, role) => valueOf(metric, role, context);
    return this.own.answer({ ...context, capacities, value }) ?? otherwise;
  }
}

function valueOf(metric: ScaleMetric, role: EngineRole, context: ScaleContext): number | undefined {
  if (metric !== 'running' && metric !== 'kv') return clusterValue(metric, role, context);
  const ready = enginesIn(context.sample, role).filter(({ state }) => state === 'ready');
  const sum = ready.reduce((total, engine) => total + engineValue(metric, engine), 0);
  return ready.length === 0 ? undefined : sum / ready.length;
}

function isDecision(given: unknown, { bounds }: OwnScaleContext): given is ScaleDecision {
  if (!isObject(given) || !isObject(given['counts'])) return false;
  const { counts, roleChanges = [] } = given;
  return (
    rolesIn(bounds.max).every((role) => isCount(counts[role])) &&
    Array.isArray(roleChanges) &&
    roleChanges.every(isRoleChange)
  );
}

function isRoleChange(given: unknown): boolean {
  const isRole = (name: unknown): boolean => ROLES.some((role) => role === name);
  return isObject(given) && isRole(given['from']) && isRole(given['to']) && isCount(given['count']);
}

function isCount(given: unknown): boolean {
  return Number.isFinite(given) && Number(given) >= 0;
}

function rolesIn(max: Topology): EngineRole[] {
  return ROLES.filter((role) => max[role] > 0);
}

function namesIn(max: Topology): string {
  return rolesIn(max).join(' and ');
}
