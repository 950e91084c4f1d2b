/**
 * Replica counts of Kubernetes' HorizontalPodAutoscaler, before behaviour is applied. Source:
 * kubernetes/kubernetes, pkg/controller/podautoscaler/replica_calculator.go, and
 * https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
 */

export interface ReplicaCounts {
  /** Replicas that the target should have, those that start included. */
  readonly current: number;
  /** Replicas that accept requests. */
  readonly ready: number;
}

/** `desired = ceil(ready × value / target)`; within the tolerance the count stays. */
export function objectReplicas(
  value: number,
  target: number,
  { current, ready, tolerance }: ReplicaCounts & { readonly tolerance: number },
): number {
  const ratio = thousandths(value) / thousandths(target);
  return isWithin(ratio, tolerance) ? current : Math.ceil(ratio * ready);
}

/** `desired = ceil(total / target)`; the tolerance is on the share of each current replica. */
export function totalReplicas(
  total: number,
  target: number,
  { current, tolerance }: ReplicaCounts & { readonly tolerance: number },
): number {
  const [usage, share] = [thousandths(total), thousandths(target)];
  return isWithin(usage / (share * current), tolerance) ? current : Math.ceil(usage / share);
}

/**
 * A metric with a value per replica. Undefined values are replicas without metrics: for scaling up
 * they count as 0, for scaling down as the target, so that they damp a change and never reverse it.
 * Undefined when no replica has a value.
 */
export function engineReplicas(
  values: readonly (number | undefined)[],
  target: number,
  { current, tolerance }: ReplicaCounts & { readonly tolerance: number },
): number | undefined {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return undefined;
  const ratio = usageRatio(known, target);
  if (known.length === values.length) {
    return isWithin(ratio, tolerance) ? current : Math.ceil(ratio * known.length);
  }
  const filled = values.map((value) => value ?? (ratio < 1 ? target : 0));
  const damped = usageRatio(filled, target);
  const isTurned = (ratio < 1 && damped > 1) || (ratio > 1 && damped < 1);
  if (isWithin(damped, tolerance) || isTurned) return current;
  const desired = Math.ceil(damped * filled.length);
  const isAgainst = (damped < 1 && desired > current) || (damped > 1 && desired < current);
  return isAgainst ? current : desired;
}

/** The mean in whole thousandths over the target, as `GetMetricUsageRatio` computes it. */
function usageRatio(values: readonly number[], target: number): number {
  const total = values.reduce((sum, value) => sum + thousandths(value), 0);
  return Math.floor(total / values.length) / thousandths(target);
}

/** In floating point, as in Kubernetes: a ratio of 1.1 is outside a tolerance of 0.1. */
function isWithin(ratio: number, tolerance: number): boolean {
  return Math.abs(1 - ratio) <= tolerance;
}

/** Far below a thousandth of a thousandth, and far above the error of a sum in floating point. */
const ROUNDING = 1e-6;

/** Kubernetes counts in whole thousandths, rounded up (`MilliValue`). */
function thousandths(value: number): number {
  return Math.max(0, Math.ceil(value * 1_000 - ROUNDING));
}
