import type { Micros } from '@baton/kernel';
import type { EngineRole, Topology } from '../placement/topology/topology';
import type { ClusterSample } from './sample';

/**
 * Minimum and maximum number of engines of each role. A role whose maximum is 0 is not in the
 * cluster.
 */
export interface ScaleBounds {
  readonly min: Topology;
  readonly max: Topology;
}

/** The input of a policy's decision. */
export interface ScaleContext {
  /** Simulated µs since the start of the cluster. */
  readonly nowUs: Micros;
  /** The newest scrape that the policy gets; it can be older than `nowUs`. */
  readonly sample: ClusterSample;
  /** The scrape before it. Unset: there is none. */
  readonly previous: ClusterSample | undefined;
  /** Engines by role, including starting ones, without draining ones. */
  readonly counts: Topology;
  readonly bounds: ScaleBounds;
}

/** Engines that change their role instead of leaving. */
export interface RoleChange {
  readonly from: EngineRole;
  readonly to: EngineRole;
  readonly count: number;
}

/** The engines that a cluster should have; counts are cut to the bounds. */
export interface ScaleDecision {
  readonly counts: Topology;
  /**
   * Changes of role, carried out first; `counts` are the counts after them. Unset: no role changes.
   */
  readonly roleChanges?: readonly RoleChange[];
}

/** Decides the number of engines of each role; the same object serves both clocks. */
export interface ScalePolicy {
  /** Called once per interval, in order of time. */
  decide(context: ScaleContext): ScaleDecision;
}
