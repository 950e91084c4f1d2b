import type { Micros } from '@baton/kernel';
import type { EngineRole } from './stage';

/**
 * One engine as a policy sees it: the newest snapshot that the engine published, with what this
 * router has sent there since then already added. Rows belong to the caller and are used again, so
 * a policy keeps no reference to them.
 */
export interface EngineView {
  /** Stable name: the policy's own memory (stickiness, prefixes) hangs on it. */
  readonly engineId: string;
  /** Running, waiting and deferred sequences. */
  readonly requests: number;
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

/** What a policy may know of a request: never the true length of its output. */
export interface PlacementRequest {
  readonly promptTokens: number;
  /**
   * Whatever makes requests of one conversation meet again: a hash of session or user; 0 = none.
   */
  readonly sessionKey: number;
  /**
   * Chained hashes of the prompt's full blocks, `blockCount` of them from `blockFrom` on. 0 =
   * private, and so is all behind it.
   */
  readonly blockHashes: ArrayLike<number>;
  readonly blockFrom: number;
  readonly blockCount: number;
}

export interface PlacementContext {
  readonly request: PlacementRequest;
  /** What the engine is chosen for. Every stage has a policy of its own. */
  readonly stage: EngineRole;
  /** The engines that are ready, in a stable order; at least one. */
  readonly engines: readonly EngineView[];
  /**
   * Prompt tokens of the request that this engine is believed to hold in its prefix cache: see
   * `PrefixDirectory`.
   */
  cachedTokens(engine: EngineView): number;
  /**
   * How long this engine would compute so many prompt tokens behind `cached` ones, by its step-time
   * model: see `prefillUs`.
   */
  prefillUs(engine: EngineView, tokens: number, cached: number): Micros;
}

/** Chooses one of the engines of a stage for a request; the same object serves both clocks. */
export interface Policy {
  /** Index into `context.engines`. */
  choose(context: PlacementContext): number;
}
