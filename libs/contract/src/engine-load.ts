import type { AdaptersInHand, EnginePresence } from './presence';

/**
 * The load of an engine, for routers: JSON on the `loads` channel. Sent on every change, at most
 * ten times a second, and a few times a second without a change, as a sign of life; once a second
 * when the process is idle.
 */
export interface EngineLoad {
  readonly engineId: string;
  readonly stage: EnginePresence['stage'];
  readonly index: number;
  readonly state: EnginePresence['state'];
  /** True: the process is idle, and the next sign of life comes after a second. */
  readonly isSlow?: true;
  /** Data-parallel rank; absent when an engine has only one. */
  readonly rank?: number;
  /**
   * Sequences in the engine or on their way into it: running, waiting, deferred. Without those in
   * its queue.
   */
  readonly requests: number;
  /** The part of `requests` that does not run. */
  readonly waitingRequests: number;
  /** Their prompt tokens that are not computed yet. */
  readonly waitingTokens: number;
  readonly usedBlocks: number;
  readonly numBlocks: number;
  /** LoRA adapters of the engine's sequences. Absent: none has one. */
  readonly adapters?: AdaptersInHand;
  /** By router: the highest ordinal of its jobs that the engine has taken out of its own queue. */
  readonly taken: Readonly<Record<string, number>>;
}
