import type { EngineOptions } from '@baton/engine';
import type { Micros } from '@baton/kernel';
import type { EngineRole } from '@baton/placement';
import type { Workload } from '@baton/workload';

/** Equal engines of one role. */
export interface EnginePool {
  readonly role: EngineRole;
  readonly count: number;
  readonly options: EngineOptions;
  /** GPUs of one engine. */
  readonly gpus: number;
  /** Bytes of KV per prompt token that one rank sends over its own link. */
  readonly kvBytesPerToken: number;
  readonly link: { readonly bytesPerSecond: number; readonly baseLatencyUs: Micros };
  /** How long an engine of this pool loads before it takes work. */
  readonly startupUs: Micros;
}

/** A cluster and what is asked of it: everything that a virtual run depends on. */
export interface ClusterScenario {
  readonly pools: readonly EnginePool[];
  readonly workload: Workload;
  readonly kvLeaseUs: Micros;
  /** Requests that may wait for one stage; beyond it a request is rejected. Infinity = none is. */
  readonly maxWaitingRequests: number;
  /** Requests that clients have under way at most; the next one is sent when one ends. Infinity = open loop. */
  readonly maxConcurrency: number;
  readonly seed: number;
  /** Whether decode batches that cannot change take many steps at once; the outcome is the same. */
  readonly leap: boolean;
}
