import type { ByteStore, RequestLog } from '@baton/analysis';
import type { FreeContents, KvPoolTerms } from '@baton/kvcache';
import type { EngineOptions } from '@baton/engine';
import type {
  Autoscaler,
  FlowLimits,
  FlowPolicySpec,
  AdmissionSpec,
  EngineRole,
  PlacerSpec,
  PolicyWatch,
  Topology,
} from '@baton/policies';
import type { FrontEnd } from '@baton/step-time';
import type { HandoffEntry, TransferSetupTimes, TransferShape } from '@baton/handoff';
import type { Micros, StartupTimes } from '@baton/kernel';
import type { Workload } from '@baton/workload';
import type { EngineCache } from './caches/engine-caches';
import type { RecordedPlacement } from './recorded-placement';
import type { RowClasses } from './flow/row-classes';

/**
 * Equal engines of one role, each data-parallel rank counted singly. The initial ones need no
 * loading.
 */
export interface EnginePool extends StartupTimes {
  readonly role: EngineRole;
  /** Ranks at the start, a multiple of those of an engine; a pool of 0 only gets engines later. */
  readonly count: number;
  /**
   * The ranks of one engine, >= 2, and whether they step together. Unset: an engine has one rank.
   */
  readonly dataParallel?: { readonly size: number; readonly isLockstep: boolean } | undefined;
  readonly options: EngineOptions;
  /** GPUs of one rank. */
  readonly gpus: number;
  /** Bytes of KV per prompt token that one rank sends over its own link. */
  readonly kvBytesPerToken: number;
  /** One port of an engine, and the number of ports. */
  readonly link: {
    readonly bytesPerSecond: number;
    readonly baseLatencyUs: Micros;
    readonly ports: number;
    /** True when the rate follows from a time per token; transfers take the time of tokens. */
    readonly isTimedByTokens?: boolean;
  };
  /** The shape in which one rank reads a KV block. Unset: whole. */
  readonly transferShape?: TransferShape;
  /** Time to set up a transfer to it in addition to that latency. Default: 0. */
  readonly transferTimes?: TransferSetupTimes;
  /** Initial content of the prefix caches of the initial engines. Unset: empty. */
  readonly warmCaches?: readonly FreeContents[];
  /**
   * The share of each engine in the KV pool of the cluster. Unset for engines outside of a pool.
   */
  readonly kvPool?: KvPoolTerms;
}

/** `Given`, but it does not compile with a field that `Shape` has not. */
export type OnlyFields<Shape, Given extends Shape> = Given & {
  readonly [Unknown in Exclude<keyof Given, keyof Shape>]: never;
};

/**
 * The pool as it is. A field that nothing reads does not compile, even one that came in by a
 * spread: a renamed field would otherwise simulate another cluster without a word.
 */
export function enginePool<Pool extends EnginePool>(
  pool: OnlyFields<EnginePool, Pool>,
): EnginePool {
  return pool;
}

/**
 * A change of the cluster during a run, of all ranks of an engine. `join`: an engine of the pool
 * starts. `leave`: the least loaded engine of the pool takes no more work and leaves when it is
 * empty. `become`: like `leave`, and then its GPUs start an engine of the pool `to`.
 */
export type MembershipChange =
  | { readonly atUs: Micros; readonly kind: 'join' | 'leave'; readonly pool: number }
  | { readonly atUs: Micros; readonly kind: 'become'; readonly pool: number; readonly to: number };

/** An autoscaler on the virtual clock. */
export interface ClusterScaling {
  /**
   * Makes an autoscaler for one run, because it has state. `watch` counts the faults of a user's
   * own policy.
   */
  readonly create: (watch?: PolicyWatch) => Autoscaler;
  /** Time between two decisions; the first one comes after the first interval. */
  readonly intervalUs: Micros;
  /** Limit of engines of each role. */
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
   * A joining engine that has loaded fetches the prefix cache of another engine of its pool over
   * its link, and accepts work afterwards. Unset: it begins with an empty cache.
   */
  readonly fetchesCaches?: boolean;
  /** Unset: only the initial engines and `changes`. */
  readonly scaling?: ClusterScaling;
  /** The requests; their content blocks have the size of the engines' KV blocks. */
  readonly workload: Workload;
  readonly placement: PlacerSpec;
  /**
   * The placement of some rows, instead of by the policies, in clusters whose engines do not
   * change. Unset: the policies place all rows.
   */
  readonly recordedPlacement?: RecordedPlacement;
  /** The servers in front of the engines; unset: requests reach the engines at their arrival. */
  readonly frontEnd?: FrontEnd;
  /** The admission of requests; unset: all for which the queue has room. */
  readonly admission?: AdmissionSpec;
  /** The SLO classes of the rows. Unset when rows have no class. */
  readonly sloClasses?: RowClasses;
  /** Queues in front of the cluster; unset: every request proceeds at once. */
  readonly flowControl?: ClusterFlowControl;
  /**
   * True: a token that the scheduler does not know beforehand ends each request, unless its
   * max_tokens does. Unset: the limit ends every request.
   */
  readonly endsByEos?: boolean;
  readonly kvLeaseUs: Micros;
  /** Runs of one stage that a request may take when its KV is lost. */
  readonly maxRuns: number;
  /**
   * Limit of requests that wait for one stage; further requests are rejected. Infinity = no limit.
   */
  readonly maxWaitingRequests: number;
  /**
   * Limit of requests under way; a client sends the next one when one ends. Infinity = open loop.
   */
  readonly maxConcurrency: number;
  /**
   * Mean time between the end of a client's request and its next one, exponentially distributed,
   * when `maxConcurrency` limits them. Unset: 0.
   */
  readonly thinkUs?: Micros;
  readonly seed: number;
  /**
   * Whether decode batches that cannot change take many steps in one call; the result is the same.
   */
  readonly leap: boolean;
}

/** The policies' choice for a row whose recorded placement decides. */
export interface ShadowDecision {
  readonly row: number;
  readonly atUs: Micros;
  readonly role: EngineRole;
  /** Indices among the engines of the role. */
  readonly recorded: number;
  readonly own: number;
  /** Estimates from the current loads, for either engine: see `estimateTtftUs`. */
  readonly recordedTtftUs: Micros;
  readonly ownTtftUs: Micros;
}

/** Callbacks to observe a run. */
export interface RunObserver {
  /**
   * A request has ended, successfully or not; its row of the log is complete. Returning false ends
   * the run.
   */
  readonly onEnd?: (row: number, log: RequestLog) => boolean | undefined;
  /** Called at intervals with the numbers of ended requests and of all requests. */
  readonly onProgress?: (ended: number, count: number) => void;
  /** A step of an engine, or a leap of several. */
  readonly onSteps?: (span: StepSpan) => void;
  /**
   * Every call of a hand-over coordinator, in order. Requests are identified by rows, engines by
   * indices.
   */
  readonly onHandoff?: (entry: HandoffEntry<number>) => void;
  /** Counts the faults of users' own policies. Without it, the first fault throws. */
  readonly policyWatch?: PolicyWatch | undefined;
  /** Makes the policies choose on each recorded arrival too; they must not be `pull`. */
  readonly onShadow?: (decision: ShadowDecision) => void;
  /** Where the log keeps what need not be in memory. Default: all stays in memory. */
  readonly store?: ByteStore | undefined;
  /** Called at the end of the run with the content of the prefix caches. */
  readonly onCaches?: (caches: readonly EngineCache[]) => void;
}

/** The object is reused; copy the values that you keep. */
export interface StepSpan {
  readonly engine: number;
  readonly startUs: Micros;
  readonly endUs: Micros;
  readonly steps: number;
  /** Generated tokens, and computed prompt tokens. */
  readonly generatedTokens: number;
  readonly promptTokens: number;
}
