import type { EngineRole } from '../../placement/topology/topology';
import { clusterValue, engineValue, METRIC_FACTS, type ScaleMetric } from '../metrics';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import { enginesIn } from '../sample';
import { type Behaviour, Stabiliser } from './behaviour';
import { engineReplicas, objectReplicas, totalReplicas } from './replicas';

/** One entry of `spec.metrics`. */
export interface HpaMetric {
  readonly metric: ScaleMetric;
  /** Above 0; latencies in seconds. */
  readonly target: number;
  /** The role that it scales. Unset: each role. */
  readonly role?: EngineRole | undefined;
}

export interface HpaSpec {
  readonly kind: 'hpa';
  readonly metrics: readonly HpaMetric[];
  /** A ratio within this of 1 changes nothing; Kubernetes' default is 0.1. */
  readonly tolerance: number;
  readonly behaviour: Behaviour;
}

/**
 * Kubernetes' HorizontalPodAutoscaler, version 2. Each role has its own, as if it were a
 * Deployment. The metric with the highest count decides. A metric without a value is ignored, but
 * it keeps the others from scaling down. A role without metrics keeps its count.
 */
export class Hpa implements ScalePolicy {
  private readonly roles: Readonly<Record<EngineRole, Stabiliser>>;

  constructor(private readonly spec: HpaSpec) {
    const { behaviour } = spec;
    this.roles = {
      prefill: new Stabiliser(behaviour),
      decode: new Stabiliser(behaviour),
      aggregated: new Stabiliser(behaviour),
    };
  }

  decide(context: ScaleContext): ScaleDecision {
    const counts = {
      prefill: this.replicas('prefill', context),
      decode: this.replicas('decode', context),
      aggregated: this.replicas('aggregated', context),
    };
    return { counts };
  }

  private replicas(role: EngineRole, context: ScaleContext): number {
    const { nowUs, counts, bounds } = context;
    const [current, min, max] = [counts[role], bounds.min[role], bounds.max[role]];
    if (max === 0) return 0;
    this.roles[role].observe(current, nowUs);
    const desired = this.proposed(role, context);
    if (desired === undefined) return current;
    return this.roles[role].normalise(desired, { nowUs, current, min, max });
  }

  /** Undefined when no metric applies. */
  private proposed(role: EngineRole, context: ScaleContext): number | undefined {
    const requested = this.spec.metrics.filter(
      (each) => each.role === undefined || each.role === role,
    );
    const proposals = requested.map((each) => this.proposal(each, role, context));
    const known = proposals.filter((each) => each !== undefined);
    if (known.length === 0) return undefined;
    const most = Math.max(...known);
    const isBlind = known.length < proposals.length && most < context.counts[role];
    return isBlind ? undefined : most;
  }

  private proposal(
    { metric, target }: HpaMetric,
    role: EngineRole,
    context: ScaleContext,
  ): number | undefined {
    const { tolerance } = this.spec;
    const replicas = enginesIn(context.sample, role).filter(({ state }) => state !== 'draining');
    const ready = replicas.filter(({ state }) => state === 'ready').length;
    const counts = { current: context.counts[role], ready, tolerance };
    if (metric === 'running' || metric === 'kv') {
      const values = replicas.map((engine) =>
        engine.state === 'ready' ? engineValue(metric, engine) : undefined,
      );
      return engineReplicas(values, target, counts);
    }
    const value = clusterValue(metric, role, context);
    if (value === undefined) return undefined;
    const isTotal = METRIC_FACTS[metric].kind === 'total';
    return (isTotal ? totalReplicas : objectReplicas)(value, target, counts);
  }
}
