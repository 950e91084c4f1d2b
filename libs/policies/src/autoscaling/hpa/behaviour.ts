import { type Micros, secondsToUs } from '@baton/kernel';

/** Largest change in a period: a number of replicas, or a percentage of them. */
export interface ScalingPolicy {
  readonly kind: 'pods' | 'percent';
  readonly value: number;
  readonly periodSeconds: number;
}

export interface ScalingRules {
  /** Window from which the most conservative recommendation is taken. */
  readonly windowSeconds: number;
  /** The policy that allows the largest change applies. */
  readonly policies: readonly ScalingPolicy[];
}

export interface Behaviour {
  readonly up: ScalingRules;
  readonly down: ScalingRules;
}

/** The `behavior` of an object that sets none: pkg/apis/autoscaling/v2/defaults.go. */
export const DEFAULT_BEHAVIOUR: Behaviour = {
  up: {
    windowSeconds: 0,
    policies: [
      { kind: 'pods', value: 4, periodSeconds: 15 },
      { kind: 'percent', value: 100, periodSeconds: 15 },
    ],
  },
  down: {
    windowSeconds: 300,
    policies: [{ kind: 'percent', value: 100, periodSeconds: 15 }],
  },
};

interface Past {
  readonly atUs: Micros;
  readonly value: number;
}

/**
 * Stabilises and limits the recommendations for one target, as
 * `normalizeDesiredReplicasWithBehaviors` of pkg/controller/podautoscaler/horizontal.go. Kept
 * recommendations and changes are bounded by the longest window or period.
 */
export class Stabiliser {
  private recommendations: Past[] = [];
  private hasBegun = false;
  /** Replicas that were added (above 0) or removed. */
  private changes: Past[] = [];

  constructor(private readonly behaviour: Behaviour) {}

  /**
   * The replicas at the first decision count as a recommendation, as `recordInitialRecommendation`
   * of horizontal.go records: a target above its demand shrinks only after the window. Call it
   * before each decision, also without a value of a metric.
   */
  observe(current: number, nowUs: Micros): void {
    if (!this.hasBegun) this.recommendations.push({ atUs: nowUs, value: current });
    this.hasBegun = true;
  }

  /** The replicas that the target should have at `nowUs`, in `min`..`max`. */
  normalise(
    desired: number,
    { nowUs, current, min, max }: { nowUs: Micros; current: number; min: number; max: number },
  ): number {
    this.observe(current, nowUs);
    const stabilised = this.stabilise(desired, current, nowUs);
    const limited = Math.min(max, Math.max(min, this.limit(stabilised, current, nowUs)));
    if (limited !== current) this.changes.push({ atUs: nowUs, value: limited - current });
    this.forget(nowUs);
    return limited;
  }

  private stabilise(desired: number, current: number, nowUs: Micros): number {
    const { up, down } = this.behaviour;
    let most = desired;
    let least = desired;
    for (const { atUs, value } of this.recommendations) {
      if (atUs > nowUs - secondsToUs(up.windowSeconds)) least = Math.min(least, value);
      if (atUs > nowUs - secondsToUs(down.windowSeconds)) most = Math.max(most, value);
    }
    this.recommendations.push({ atUs: nowUs, value: desired });
    return Math.min(Math.max(current, least), most);
  }

  private limit(desired: number, current: number, nowUs: Micros): number {
    if (desired > current) return Math.min(desired, Math.max(current, this.most(current, nowUs)));
    if (desired < current) return Math.max(desired, Math.min(current, this.least(current, nowUs)));
    return current;
  }

  private most(current: number, nowUs: Micros): number {
    const limits = this.behaviour.up.policies.map(({ kind, value, periodSeconds }) => {
      const before = current - this.changed(nowUs, periodSeconds);
      return kind === 'pods' ? before + value : Math.ceil(before * (1 + value / 100));
    });
    return Math.max(...limits);
  }

  private least(current: number, nowUs: Micros): number {
    const limits = this.behaviour.down.policies.map(({ kind, value, periodSeconds }) => {
      const before = current - this.changed(nowUs, periodSeconds);
      return kind === 'pods' ? before - value : Math.floor(before * (1 - value / 100));
    });
    return Math.min(...limits);
  }

  /** Replicas added in the period, minus those removed. */
  private changed(nowUs: Micros, periodSeconds: number): number {
    const fromUs = nowUs - secondsToUs(periodSeconds);
    return this.changes.reduce((sum, { atUs, value }) => (atUs > fromUs ? sum + value : sum), 0);
  }

  private forget(nowUs: Micros): void {
    const { up, down } = this.behaviour;
    const windowUs = secondsToUs(Math.max(up.windowSeconds, down.windowSeconds));
    const periods = [...up.policies, ...down.policies].map(({ periodSeconds }) => periodSeconds);
    const periodUs = secondsToUs(Math.max(...periods));
    this.recommendations = this.recommendations.filter(({ atUs }) => atUs > nowUs - windowUs);
    this.changes = this.changes.filter(({ atUs }) => atUs > nowUs - periodUs);
  }
}
