import type { Stage, StepTimeOrigin } from '@baton/contract';
import type { EnginePort } from '@baton/engine';
import type { HandoffEntry, TransferSetupTimes, TransferShape } from '@baton/handoff';
import type { Micros } from '@baton/kernel';
import type { KvPoolMember, KvPoolTerms } from '@baton/kv-pool';
import type { ContentWatcher } from '@baton/kvcache';
import type { KvEventPublisher, RankOptions } from '@baton/live-engine';

/** What an engine host needs about its engine besides the engine itself. */
export interface HostedEngineFacts {
  readonly model: string;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly blockSize: number;
  readonly numBlocks: number;
  readonly tensorParallelSize: number;
  /** Bytes of KV per prompt token that one rank sends over its own link. */
  readonly kvBytesPerToken: number;
  /** What layers with a sliding window add to that. Unset: there are none. */
  readonly kvWindow?: WindowFacts;
  readonly link: LinkFacts;
}

/** KV of layers with a sliding window: their bytes for each of the last `tokens` tokens. */
export interface WindowFacts {
  readonly tokens: number;
  readonly bytesPerToken: number;
}

export interface LinkFacts {
  readonly bytesPerSecond: number;
  readonly baseLatencyUs: Micros;
}

/** Host memory behind the KV cache: what one rank loads of a token, and how fast. */
export interface HostTierFacts {
  readonly bytesPerToken: number;
  readonly bytesPerSecond: number;
}

/** How step times are made, and how far the engine's steps left the measured range. */
export interface StepTimeFacts extends StepTimeOrigin {
  /** Unset: they have no range. */
  readonly outside?: () => StepsOutside;
}

export interface StepsOutside {
  readonly steps: number;
  /** How many times the largest measured value the farthest of them had; 1: none lay outside. */
  readonly farthest: number;
}

/** Faults to inject, for tests. */
export interface FaultOptions {
  readonly crashAfter: string | undefined;
  /** Share of KV reads answered as expired, 0..1. */
  readonly failReads: number;
  readonly seed: number;
}

/** Options of an engine, except the one for who does its work. */
export interface DriverOptions {
  readonly role: Stage;
  /** Unset: the engine has one rank. */
  readonly dataParallel?: RankOptions;
  readonly facts: HostedEngineFacts;
  /** Where vLLM's buckets of tokens end. Unset: no end. */
  readonly maxModelLen?: number;
  /** How one rank reads a KV block. Unset: whole, in the size of this engine's. */
  readonly transferShape?: TransferShape;
  /** What setting up a transfer takes beyond the link's latency. Unset: nothing. */
  readonly transferTimes?: TransferSetupTimes;
  /** Unset: nothing lies behind the KV cache. */
  readonly hostTier?: HostTierFacts;
  /** What the engine gives to the KV pool of the cluster. Unset: there is none. */
  readonly kvPool?: KvPoolTerms;
  /** Unset: the engine simulates no steps. */
  readonly stepTimes?: StepTimeFacts;
  /** Called at the start, and again after an engine has thrown. */
  readonly buildEngine: (watcher?: ContentWatcher, kvPool?: KvPoolMember) => EnginePort;
  /** Makes the publisher of KV-cache events for the engine of this number. Unset: no events. */
  readonly kvEvents?: (engine: number) => KvEventPublisher;
  readonly kvLeaseUs: Micros;
  /** How long blocks of a finished decode leg wait for the next turn. */
  readonly kvKeepUs: Micros;
  /** Fewer tokens than this are computed and not read back from decode. */
  readonly kvRecomputeThreshold: number;
  readonly kvLoadFailurePolicy: 'fail' | 'recompute';
  /** Unknown references from outside end their request with 400, whatever the policy. */
  readonly strictKv: boolean;
  readonly workerLossPolicy: 'retry' | 'fail';
  /** Runs of one stage that a request may take. */
  readonly maxRuns: number;
  /** Wall ms that a punctual engine counts as alive after its last heartbeat. */
  readonly presenceTtlMs: number;
  /** Wall µs for the answer to one request for KV blocks. */
  readonly kvReadTimeoutUs: number;
  /**
   * Wall µs: with a fast clock, KV for a request that the cluster routes is held for the shorter of
   * this and the unscaled lease.
   */
  readonly maxLeaseWallUs: number;
  /** Simulated µs before the engine takes work. */
  readonly startupUs: Micros;
  readonly faults: FaultOptions;
  /** Whether the engine publishes its load for routers. */
  readonly tellsLoad: boolean;
  /** Whether the engine publishes timelines of requests for API processes. */
  readonly tellsTimelines: boolean;
  /** Called with the length of each step, in simulated µs, when it has ended. */
  readonly onStep?: (durationUs: Micros) => void;
  /**
   * Called for every call of the hand-over coordinators, so that their lifecycles can be compared
   * with those of another driver.
   */
  readonly onHandoff?: (entry: HandoffEntry) => void;
}
