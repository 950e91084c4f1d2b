import type { Stage, StepTimeOrigin } from '@baton/contract';
import type { EnginePort } from '@baton/engine';
import type { HandoffEntry, TransferSetupTimes, TransferShape } from '@baton/handoff';
import type { Micros, StartupTimes } from '@baton/kernel';
import type { ContentWatcher, KvPoolMember, KvPoolTerms } from '@baton/kvcache';
import type { Provider } from '@nestjs/common';
import type { RankOptions } from './engine/engine-identity';
import type { KvEventPublisher } from './observers/kv-event';

/** The facts about an engine that its host needs. */
export interface HostedEngineFacts {
  readonly model: string;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly blockSize: number;
  readonly numBlocks: number;
  readonly tensorParallelSize: number;
  /** Bytes of KV per prompt token that one rank sends over its own link. */
  readonly kvBytesPerToken: number;
  readonly link: LinkFacts;
}

/** One port of the engine, and the number of ports. */
export interface LinkFacts {
  /** At most `UNLIMITED`. */
  readonly bytesPerSecond: number;
  readonly baseLatencyUs: Micros;
  readonly ports: number;
  /** True when the rate follows from a time per token: transfers take the time of their tokens. */
  readonly isTimedByTokens?: boolean;
}

/** Host memory behind the KV cache: the bytes that one rank loads per token, and its speed. */
export interface HostTierFacts {
  readonly bytesPerToken: number;
  readonly bytesPerSecond: number;
}

/** The step-time model, and how far the engine's steps left the measured range. */
export interface StepTimeFacts extends StepTimeOrigin {
  /** Unset when the model has no range. */
  readonly outside?: () => StepsOutside;
}

export interface StepsOutside {
  readonly steps: number;
  /** Steps outside of the range whose shape was not measured at all. */
  readonly unmeasured: number;
  /** The farthest of the others as a multiple of the largest measured value; 1: none is above. */
  readonly farthest: number;
}

/** Faults to inject, for tests. */
export interface FaultOptions {
  readonly crashAfter: string | undefined;
  /** Share of KV reads answered as expired, 0..1. */
  readonly failReads: number;
  readonly seed: number;
}

/** Options of an engine. */
export interface DriverOptions extends StartupTimes {
  readonly role: Stage;
  /** Unset: the engine has one rank. */
  readonly dataParallel?: RankOptions;
  /** The index that it takes if it is free. Unset: the smallest free one. */
  readonly index?: number;
  /** The number in its name that it takes if it is free. Unset: the smallest free one. */
  readonly number?: number;
  readonly facts: HostedEngineFacts;
  /** End of vLLM's token buckets. Unset: the buckets have no end. */
  readonly maxModelLen?: number;
  /** The shape in which one rank reads a KV block. Unset: whole, in this engine's size. */
  readonly transferShape?: TransferShape;
  /** Time to set up a transfer in addition to the link's latency. Default: 0. */
  readonly transferTimes?: TransferSetupTimes;
  /** Host memory behind the KV cache. Unset: evicted blocks are not kept. */
  readonly hostTier?: HostTierFacts;
  /** The engine's share in the KV pool of the cluster. Unset for an engine outside of a pool. */
  readonly kvPool?: KvPoolTerms;
  /** Unset: the engine simulates no steps. */
  readonly stepTimes?: StepTimeFacts;
  /** Called at the start, and again after an engine has thrown. */
  readonly buildEngine: (watcher?: ContentWatcher, kvPool?: KvPoolMember) => EnginePort;
  /** Providers of the executor of the stage. Unset: the engine simulates the stage. */
  readonly executor?: readonly Provider[];
  /**
   * Makes the publisher of KV-cache events for the engine of this number. Unset: events are not
   * published.
   */
  readonly kvEvents?: (engine: number) => KvEventPublisher;
  /**
   * Wall µs before the logical end of a step at which its results are sent; their readers wait for
   * that end. Unset: 0.
   */
  readonly resultLeadUs?: number;
  readonly kvLeaseUs: Micros;
  /** Time for which blocks of a finished decode leg wait for the next turn. */
  readonly kvKeepUs: Micros;
  /** Fewer tokens than this are computed instead of read back from decode. */
  readonly kvRecomputeThreshold: number;
  readonly kvLoadFailurePolicy: 'fail' | 'recompute';
  /** Unknown references from outside end their request with 400, whatever the policy. */
  readonly strictKv: boolean;
  readonly workerLossPolicy: 'retry' | 'fail';
  /** Runs of one stage that a request may take. */
  readonly maxRuns: number;
  /** Wall ms that an engine without lateness counts as alive after its last heartbeat. */
  readonly presenceTtlMs: number;
  /** Wall µs for the answer to one request for KV blocks. */
  readonly kvReadTimeoutUs: number;
  /**
   * Wall µs. With a fast clock, KV of a request that the cluster routes is held for the shorter of
   * this and the unscaled lease.
   */
  readonly maxLeaseWallUs: number;
  /**
   * Whether the engine begins with the prefix cache of another engine. Unset: it begins with an
   * empty one.
   */
  readonly fetchesCache?: boolean;
  readonly faults: FaultOptions;
  /** Whether the engine publishes its load for routers. */
  readonly publishesLoad: boolean;
  /** Whether the engine publishes timelines of requests for API processes. */
  readonly publishesTimelines: boolean;
  /** Called with the length of each step, in simulated µs, when it has ended. */
  readonly onStep?: (durationUs: Micros) => void;
  /**
   * Called for every call of the hand-over coordinators, so that their lifecycles can be compared
   * with those of another driver.
   */
  readonly onHandoff?: (entry: HandoffEntry) => void;
}
