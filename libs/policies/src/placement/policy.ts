import type { Micros } from '@baton/kernel';
import type { EngineRole } from './topology/topology';

/**
 * A policy's view of one engine: the newest snapshot that the engine published, plus the requests
 * that this router has sent there since. The caller reuses the objects, so a policy must not keep a
 * reference to them.
 */
export interface EngineView {
  /** Stable name: the key of the policy's own state (stickiness, prefixes). */
  readonly engineId: string;
  /** Running, waiting and deferred sequences. */
  readonly requests: number;
  /** The part of `requests` that does not run, including those on their way. */
  readonly waitingRequests: number;
  /**
   * Prompt tokens that are not computed yet, including those of the step under way and of requests
   * on their way.
   */
  readonly waitingTokens: number;
  /** Tokens of KV in use, as blocks in use times the block size. */
  readonly kvTokens: number;
  /** 0..1. */
  readonly kvUsage: number;
  /** Unset: the engine serves no LoRA adapters. */
  readonly adapters?: EngineAdapters | undefined;
}

/** The LoRA adapters of an engine's sequences, by name, as vLLM reports them. */
export interface EngineAdapters {
  /** Adapters with a sequence in the batch. */
  readonly running: readonly string[];
  /** Adapters whose sequences all wait. */
  readonly waiting: readonly string[];
  /** Most adapters of one batch: vLLM's `max_loras`. */
  readonly most: number;
}

/** The facts of a request that a policy gets. The true length of its output is not among them. */
export interface PlacementRequest {
  readonly promptTokens: number;
  /** A hash of session or user that groups the requests of one conversation; 0 = none. */
  readonly sessionKey: number;
  /** Name of its LoRA adapter. Unset: the base model. */
  readonly adapter?: string | undefined;
  /**
   * Chained hashes of the prompt's full blocks, `blockCount` of them from `blockFrom` on. 0 =
   * private, and so are all after it.
   */
  readonly blockHashes: ArrayLike<number>;
  readonly blockFrom: number;
  readonly blockCount: number;
}

/** The measure that compares engines: requests, or `tokenLoad` and then requests. */
export type LoadMeasure = 'requests' | 'tokens';

/** A router's estimate of the cluster's KV pool. */
export interface PoolView {
  /** Prompt tokens of the longest prefix that any engine probably holds. */
  longestTokens(): number;
  /** Time for this engine to fetch this many tokens from another one with a free link. */
  fetchUs(engine: EngineView, tokens: number): Micros;
  /** See `fetchPays` of kv-pool. */
  readonly balancingThreshold: number;
}

export interface PlacementContext {
  readonly request: PlacementRequest;
  /** The stage that the engine is chosen for. Every stage has its own policy. */
  readonly stage: EngineRole;
  /** The engines that are ready, in a stable order; at least one. */
  readonly engines: readonly EngineView[];
  /**
   * Prompt tokens of the request that this engine's prefix cache probably holds: see
   * `PrefixDirectory`.
   */
  cachedTokens(engine: EngineView): number;
  /**
   * Time for this engine to compute this many prompt tokens after `cached` ones, by its step-time
   * model: see `prefillUs` of step-time.
   */
  prefillUs(engine: EngineView, tokens: number, cached: number): Micros;
  /** The prefixes that engines could fetch from each other. Unset: no KV pool. */
  readonly pool?: PoolView | undefined;
  /**
   * Index of the engine with the least load, on a tie the first, from a caller that keeps it up to
   * date; equal to the result of comparing all. Unset, or without an answer: the policy compares
   * them.
   */
  leastLoaded?(by: LoadMeasure): number | undefined;
}

/** Chooses one of the engines of a stage for a request; the same object serves both clocks. */
export interface Policy {
  /** Index into `context.engines`. */
  choose(context: PlacementContext): number;
}
