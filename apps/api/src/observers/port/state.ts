import type { Stage } from '@baton/contract';
import type { ObservedSequence } from './port';

/** A sequence that is under way. */
export interface LiveSequence extends ObservedSequence {
  /** Stage in whose queue it waits; undefined: in none. */
  readonly waitingIn: Stage | undefined;
  /** Time of the last news of it, ms of `performance.now()`. */
  readonly heardMs: number;
}

/** The sequences of this process, as observers may read them. */
export abstract class LiveSequences implements Iterable<LiveSequence> {
  /** Sequences opened so far. */
  abstract readonly opened: number;
  /** Sequences under way. */
  abstract readonly size: number;
  abstract [Symbol.iterator](): Iterator<LiveSequence>;
}

/** Writes of tokens to clients by this process. */
export abstract class WriteCounts {
  /** So far. */
  abstract readonly writes: number;
  /** Those of them that were not made in the turn of the event loop in which their tokens came. */
  abstract readonly lateWrites: number;
}

/** How many sequences wait in the cluster, by stage. */
export abstract class WaitingTotals {
  /** As of the last refresh. */
  abstract waiting(): Readonly<Record<Stage, number>>;
  abstract refreshTotals(): Promise<void>;
}
