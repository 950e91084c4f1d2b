import type { Micros } from '@baton/kernel';
import type { EngineRole } from './topology';

/**
 * One engine, for a policy: the newest snapshot that the engine published, plus what this router
 * has sent there since. Rows belong to the caller and are used again, so a policy keeps no
 * reference to them.
 */
export interface EngineView {
  /** Stable name: the key of the policy's own state (stickiness, prefixes). */
  readonly engineId: string;
  /** Running, waiting and deferred sequences. */
  readonly requests: number;
  /** Those of them that do not run, those on their way included. */
  readonly waitingRequests: number;
  /**
   * Prompt tokens that are not computed yet, those of the step under way and of requests on their
   * way included.
   */
  readonly waitingTokens: number;
  /** Tokens of KV in use, as blocks in use times the block size. */
  readonly kvTokens: number;
  /** 0..1. */
  readonly kvUsage: number;
}

/** The facts of a request that a policy may read: never the true length of its output. */
export interface PlacementRequest {
  readonly promptTokens: number;
  /** A hash of session or user, by which requests of one conversation meet again; 0 = none. */
  readonly sessionKey: number;
  /**
   * Chained hashes of the prompt's full blocks, `blockCount` of them from `blockFrom` on. 0 =
   * private, and so is all behind it.
   */
  readonly blockHashes: ArrayLike<number>;
  readonly blockFrom: number;
  readonly blockCount: number;
}

/** What engines are compared by: requests alone, or `tokenLoad` and then requests. */
export type LoadMeasure = 'requests' | 'tokens';

/** The KV pool of the cluster, as a router estimates it. */
export interface PoolView {
  /** Prompt tokens of the longest prefix that any engine probably holds. */
  longestTokens(): number;
  /** How long this engine would fetch so many tokens from another one whose link is free. */
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
   * How long this engine would compute so many prompt tokens behind `cached` ones, by its step-time
   * model: see `prefillUs` of step-time.
   */
  prefillUs(engine: EngineView, tokens: number, cached: number): Micros;
  /** What engines could fetch from each other. Unset: there is no KV pool. */
  readonly pool?: PoolView | undefined;
  /**
   * Index of the engine with the least load, the first in order of several, from a caller that
   * keeps it up to date: the one that a comparison of all finds. Unset, or without an answer: the
   * policy compares them.
   */
  leastLoaded?(by: LoadMeasure): number | undefined;
}

/** Chooses one of the engines of a stage for a request; the same object serves both clocks. */
export interface Policy {
  /** Index into `context.engines`. */
  choose(context: PlacementContext): number;
}
