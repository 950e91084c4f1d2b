import { mean } from '@baton/kernel';
/**
 * Replica counts of Kubernetes' HorizontalPodAutoscaler, before behaviour is applied. Source:
 * kubernetes/kubernetes, pkg/controller/podautoscaler/replica_calculator.go, and
 * https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
 */

export interface ReplicaCounts {
  /** Replicas that the target should have, those that start included. */
  readonly current: number;
  /** Replicas that take work. */
  readonly ready: number;
}

/** `desired = ceil(ready × value / target)`; within the tolerance the count stays. */
export function objectReplicas(
  value: number,
  target: number,
  { current, ready, tolerance }: ReplicaCounts & { readonly tolerance: number },
): number {
  const ratio = value / target;
  return isWithin(ratio, tolerance) ? current : roundUp(ratio * ready);
}

/** `desired = ceil(total / target)`; the tolerance is on the share of each current replica. */
export function totalReplicas(
  total: number,
  target: number,
  { current, tolerance }: ReplicaCounts & { readonly tolerance: number },
): number {
  const ratio = total / (target * current);
  return isWithin(ratio, tolerance) ? current : roundUp(total / target);
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
  const ratio = mean(known) / target;
  if (known.length === values.length) {
    return isWithin(ratio, tolerance) ? current : roundUp(ratio * known.length);
  }
  const filled = values.map((value) => value ?? (ratio < 1 ? target : 0));
  const damped = mean(filled) / target;
  const isTurned = (ratio < 1 && damped > 1) || (ratio > 1 && damped < 1);
  if (isWithin(damped, tolerance) || isTurned) return current;
  const desired = roundUp(damped * filled.length);
  const isAgainst = (damped < 1 && desired > current) || (damped > 1 && desired < current);
  return isAgainst ? current : desired;
}

function isWithin(ratio: number, tolerance: number): boolean {
  return Math.abs(1 - ratio) <= tolerance + ROUNDING;
}

/**
 * Kubernetes counts in whole thousandths. This slack keeps 0.1 + 0.2 in floating point from adding
 * a replica.
 */
const ROUNDING = 1e-9;

function roundUp(value: number): number {
  return Math.max(0, Math.ceil(value - ROUNDING));
}
