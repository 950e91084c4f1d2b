import type { RequestLog } from '@baton/analysis';
import type { EngineOptions, WarmCache } from '@baton/engine';
import type { Autoscaler } from '@baton/autoscaling';
import type { FlowLimits, FlowPolicySpec } from '@baton/flow-control';
import type { FrontEnd } from '@baton/front-end';
import type { HandoffEntry, TransferSetupTimes, TransferShape } from '@baton/handoff';
import type { Micros } from '@baton/kernel';
import type { KvPoolTerms } from '@baton/kv-pool';
import type {
  AdmissionSpec,
  EngineRole,
  PlacerSpec,
  PolicyFault,
  PolicyWatch,
  Topology,
} from '@baton/placement';
import type { Workload } from '@baton/workload';
import type { EngineCache } from './caches/engine-caches';
import type { RecordedPlacement } from './recorded-placement';
import type { RowClasses } from './flow/row-classes';

/** Equal engines of one role. */
export interface EnginePool {
  readonly role: EngineRole;
  /** Engines at the start; a pool of 0 is only joined later. */
  readonly count: number;
  /**
   * So many engines, in the order in which they join, are the ranks of one engine that step
   * together; `count` is a multiple. >= 2; unset: each steps by itself.
   */
  readonly lockstepRanks?: number | undefined;
  readonly options: EngineOptions;
  /** GPUs of one engine. */
  readonly gpus: number;
  /** Bytes of KV per prompt token that one rank sends over its own link. */
  readonly kvBytesPerToken: number;
  /**
   * What layers with a sliding window add to that: bytes for each of the last `tokens` tokens.
   * Unset: there are none.
   */
  readonly kvWindow?: { readonly tokens: number; readonly bytesPerToken: number };
  readonly link: { readonly bytesPerSecond: number; readonly baseLatencyUs: Micros };
  /** What setting up a transfer to it takes beyond that latency. Unset: nothing. */
  readonly transferSetup?: TransferSetupTimes & TransferShape;
  /** What the prefix caches of the engines of the start hold then. Unset: nothing. */
  readonly warmCaches?: readonly WarmCache[];
  /** What each engine gives to the KV pool of the cluster. Unset: there is no pool. */
  readonly kvPool?: KvPoolTerms;
  /**
   * How long an engine that joins later loads before it takes work; those of the start are ready at
   * 0.
   */
  readonly startupUs: Micros;
}

/**
 * Something that happens to the cluster while it runs. `join`: an engine of the pool starts.
 * `leave`: the engine of the pool with the least to do takes nothing more and goes when it is
 * empty. `become`: as `leave`, and then its GPUs start an engine of the pool `to`.
 */
export type MembershipChange =
  | { readonly atUs: Micros; readonly kind: 'join' | 'leave'; readonly pool: number }
  | { readonly atUs: Micros; readonly kind: 'become'; readonly pool: number; readonly to: number };

/** An autoscaler on the virtual clock. */
export interface ClusterScaling {
  /** A new one for each run: it has state. `watch` counts the faults of a user's own policy. */
  readonly create: (watch?: PolicyWatch) => Autoscaler;
  /** Between two decisions; the first one comes after the first interval. */
  readonly intervalUs: Micros;
  /** Most engines of each role. */
  readonly most: Topology;
}

/** Queues in front of the cluster. */
export interface ClusterFlowControl {
  readonly policy: FlowPolicySpec;
  readonly limits: FlowLimits;
  /** Requests under way per ready engine that generates. */
  readonly concurrency: number;
}

/** A cluster and its workload: everything that a virtual run depends on. */
export interface ClusterScenario {
  readonly pools: readonly EnginePool[];
  readonly changes: readonly MembershipChange[];
  /**
   * An engine that joins fetches the prefix cache of another one of its pool over its link when it
   * has loaded, and takes work then. Unset: it begins with an empty one.
   */
  readonly fetchesCaches?: boolean;
  /** Unset: the engines are those of the start and of `changes`. */
  readonly scaling?: ClusterScaling;
  /** Its content blocks have the size of the engines' KV blocks. */
  readonly workload: Workload;
  readonly placement: PlacerSpec;
  /**
   * Replaces the policies for the rows that it has; for clusters that keep their engines. Unset:
   * they place all rows.
   */
  readonly recordedPlacement?: RecordedPlacement;
  /** The servers in front of the engines; unset: a request is with the engines when it arrives. */
  readonly frontEnd?: FrontEnd;
  /** Which requests are let in; unset: all for which the queue has room. */
  readonly admission?: AdmissionSpec;
  /** What is promised to which rows; unset: nothing. */
  readonly sloClasses?: RowClasses;
  /** Queues in front of the cluster; unset: every request goes on at once. */
  readonly flowControl?: ClusterFlowControl;
  readonly kvLeaseUs: Micros;
  /** Runs of one stage that a request may take when its KV was lost. */
  readonly maxRuns: number;
  /** Requests that may wait for one stage; beyond it a request is rejected. Infinity = none is. */
  readonly maxWaitingRequests: number;
  /**
   * Requests that clients have under way at most; the next one is sent when one ends. Infinity =
   * open loop.
   */
  readonly maxConcurrency: number;
  /**
   * Mean time between the end of a client's request and its next one, exponentially distributed,
   * where `maxConcurrency` bounds them. Unset: 0.
   */
  readonly thinkUs?: Micros;
  readonly seed: number;
  /** Whether decode batches that cannot change take many steps at once; the outcome is the same. */
  readonly leap: boolean;
}

/** What the policies would have chosen where a recorded placement decides. */
export interface ShadowDecision {
  readonly row: number;
  readonly atUs: Micros;
  readonly role: EngineRole;
  /** Indices among the engines of the role. */
  readonly recorded: number;
  readonly own: number;
  /** Estimated by the loads of the instant, for either engine: see `estimateTtftUs`. */
  readonly recordedTtftUs: Micros;
  readonly ownTtftUs: Micros;
}

/** What a caller may watch while a run goes on. */
export interface RunObserver {
  /**
   * A request has ended, one way or another; its row of the log is complete. Returning false ends
   * the run there.
   */
  readonly onEnd?: (row: number, log: RequestLog) => boolean | undefined;
  /** Every so many events: requests that have ended, and all of them. */
  readonly onProgress?: (ended: number, count: number) => void;
  /** A step of an engine, or a leap of several. */
  readonly onSteps?: (span: StepSpan) => void;
  /**
   * Every call of a hand-over coordinator, in order. Requests go by their rows, engines by their
   * indices.
   */
  readonly onHandoff?: (entry: HandoffEntry<number>) => void;
  /** A policy of the user's own made no choice. Without this the first such fault throws. */
  readonly onPolicyFault?: (fault: PolicyFault) => void;
  /** Has the policies choose on each recorded arrival too; they must not be `pull`. */
  readonly onShadow?: (decision: ShadowDecision) => void;
  /** The run is over: what the prefix caches hold now. */
  readonly onCaches?: (caches: readonly EngineCache[]) => void;
}

/** One object for the whole run: copy what you keep. */
export interface StepSpan {
  readonly engine: number;
  readonly startUs: Micros;
  readonly endUs: Micros;
  readonly steps: number;
  /** Tokens that came out, and prompt tokens that went in. */
  readonly generatedTokens: number;
  readonly promptTokens: number;
}
