// The types of policies in ES modules, for editors and for TypeScript. This file needs no other
// one: copy it beside your policy.
//
//   /** @type {import('./policies.d.ts').PlacementModule} */
//   export default { create: () => ({ choose: ({ engines }) => engines.length - 1 }) };
//
// docs/policies.md explains policies. Times in µs are simulated. Baton reuses the objects that it
// passes, so keep copies.

export type Stage = 'prefill' | 'decode' | 'aggregated';

/** The only source of randomness: the same seed gives the same draws. */
export interface Random {
  /** A number from 0 to 1, without 1. */
  readonly unit: () => number;
  /** An integer from 0 to n - 1. */
  readonly integer: (n: number) => number;
}

/** The default export of a module. `create` is called once per stage and process. */
interface Module<Policy, Of> {
  readonly create: (parts: { readonly stage: Of; readonly random: Random }) => Policy;
}

/** For --placement and --decode-placement. */
export type PlacementModule = Module<PlacementPolicy, Stage>;
/** For --admission. */
export type AdmissionModule = Module<AdmissionPolicy, Stage>;
/** For --scheduling-policy. */
export type SchedulingModule = Module<SchedulingPolicy, Stage>;
/** For --flow-control. */
export type FlowModule = Module<FlowPolicy, 'flow'>;
/** For --scale-policy. */
export type ScalingModule = Module<ScalingPolicy, 'cluster'>;

export interface PlacementPolicy {
  /** Returns an index into `engines`. */
  readonly choose: (context: PlacementContext) => number;
}

export interface PlacementContext {
  readonly request: RequestView;
  readonly stage: Stage;
  /** The engines that are ready, in a stable order; at least one. */
  readonly engines: readonly EngineView[];
  /** Prompt tokens that this engine probably has in its prefix cache. */
  readonly cachedTokens: (engine: EngineView) => number;
  /** µs in which this engine computes this many prompt tokens behind `cached` ones. */
  readonly prefillUs: (engine: EngineView, tokens: number, cached: number) => number;
}

/** One engine: its last report, and the requests that this router has sent to it since. */
export interface EngineView {
  /** A stable name: use it as a key. */
  readonly engineId: string;
  /** Running, waiting and deferred requests. */
  readonly requests: number;
  /** The part of `requests` that does not run. */
  readonly waitingRequests: number;
  /** Prompt tokens still to be computed. */
  readonly waitingTokens: number;
  /** Tokens of KV cache in use. */
  readonly kvTokens: number;
  /** Share of the KV cache in use, 0 to 1. */
  readonly kvUsage: number;
  /** LoRA adapters of its requests. Unset: the engine serves none. */
  readonly adapters?:
    | {
        readonly running: readonly string[];
        readonly waiting: readonly string[];
        readonly most: number;
      }
    | undefined;
}

/** A request, without the length of its answer. */
export interface RequestView {
  readonly promptTokens: number;
  /** A hash of session or user; 0: none. */
  readonly sessionKey: number;
  /** Its LoRA adapter. Unset: the base model. */
  readonly adapter?: string | undefined;
  /** Chained hashes of the prompt's full blocks: `blockCount` of them from `blockFrom` on. */
  readonly blockHashes: ArrayLike<number>;
  readonly blockFrom: number;
  readonly blockCount: number;
}

export interface AdmissionPolicy {
  /** False refuses the request with 429. */
  readonly admit: (context: AdmissionContext) => boolean;
  /** The wait for `Retry-After` in µs. Unset: the predicted TTFT. */
  readonly retryAfterUs?: (context: AdmissionContext) => number;
}

/** The stage that computes the prompt. */
export interface AdmissionContext extends PlacementContext {
  /** Requests that wait for the stage. */
  readonly waitingRequests: number;
  /** µs that the request has waited for flow control. */
  readonly waitedUs?: number | undefined;
  /** The TTFT target of its SLO class, µs. */
  readonly ttftTargetUs?: number | undefined;
  /** The predicted TTFT from now on, µs. */
  readonly predictedTtftUs: () => number;
}

export interface SchedulingPolicy {
  /** A finite number. The sequence with the lowest runs first. */
  readonly key: (sequence: SequenceView) => number;
  /** Decides between equal keys, lowest first. Unset: the order of submission. */
  readonly tieKey?: (sequence: SequenceView) => number;
  /** Whether a preempted sequence has the lowest `order` of all. */
  readonly resumesFirst?: boolean;
  /** Whether the running sequence that is last by this order is preempted. */
  readonly preemptsLast?: boolean;
}

export interface SequenceView {
  readonly promptTokens: number;
  /** Tokens to compute: the prompt, and after a preemption the answer so far. */
  readonly targetTokens: number;
  /** Tokens of them that the KV cache holds. */
  readonly computed: number;
  /** Lower numbers are more urgent. */
  readonly priority: number;
  readonly arrivalUs: number;
  /** Number of its LoRA adapter; 0: the base model. */
  readonly adapter: number;
  /** Grows with each submission. */
  readonly order: number;
}

export interface FlowPolicy {
  /** Returns an index into `flows`. */
  readonly pick: (context: FlowContext) => number;
  /** Called when a request goes on, with its prompt, and when it ends, with its answer. */
  readonly served?: (
    flow: Pick<FlowView, 'sloClass' | 'tenant'>,
    service: { readonly promptTokens: number; readonly outputTokens: number },
  ) => void;
}

export interface FlowContext {
  /** The flows with waiting requests, at least one. */
  readonly flows: readonly FlowView[];
  readonly nowUs: number;
  /** Requests in the engines. */
  readonly underWay: number;
}

/** The waiting requests of one SLO class and tenant. */
export interface FlowView {
  readonly sloClass: {
    readonly name: string;
    readonly priority: number;
    readonly weight: number;
    readonly ttftUs?: number | undefined;
    readonly tpotUs?: number | undefined;
  };
  readonly tenant: string;
  readonly waitingRequests: number;
  /** The request that goes on when this flow is picked. */
  readonly oldest: {
    readonly promptTokens: number;
    readonly arrivalUs: number;
    readonly order: number;
  };
}

export interface ScalingPolicy {
  readonly decide: (context: ScalingContext) => ScalingDecision;
}

export type Counts = Readonly<Record<Stage, number>>;

export interface ScalingDecision {
  /** Wanted engines. They are cut to the bounds. */
  readonly counts: Counts;
  /** Engines that change their role, carried out first. */
  readonly roleChanges?: readonly {
    readonly from: Stage;
    readonly to: Stage;
    readonly count: number;
  }[];
}

export interface ScalingContext {
  /** µs since the start of the cluster. */
  readonly nowUs: number;
  /** Engines that start or are ready. */
  readonly counts: Counts;
  readonly bounds: { readonly min: Counts; readonly max: Counts };
  /**
   * A metric as for `hpa:`, latencies in seconds. Undefined: not measured since the last scrape.
   */
  readonly value: (
    metric: 'ttft' | 'itl' | 'e2el' | 'waiting' | 'rps' | 'running' | 'kv',
    role: Stage,
  ) => number | undefined;
  readonly sample: Scrape;
  /** The scrape before it. Undefined: there is none. */
  readonly previous: Scrape | undefined;
}

/** The metrics of the cluster, `--scale-metrics-age` old. */
export interface Scrape {
  readonly atUs: number;
  readonly engines: readonly {
    readonly engineId: string;
    readonly role: Stage;
    readonly state: 'starting' | 'ready' | 'draining';
    readonly running: number;
    readonly waiting: number;
    readonly kvUsage: number;
  }[];
  /** Requests that wait for a role and that no engine has taken. */
  readonly queued: Counts;
  /** Counters since the start. */
  readonly totals: {
    readonly arrived: number;
    readonly finished: number;
    readonly promptTokens: number;
    readonly outputTokens: number;
    readonly ttft: SumOfSeconds;
    readonly itl: SumOfSeconds;
    readonly e2el: SumOfSeconds;
  };
}

export interface SumOfSeconds {
  readonly sumSeconds: number;
  readonly count: number;
}
