import type { Stage } from '@baton/contract';
import type { ObservedSequence } from './port';

/** A sequence that is under way. */
export interface LiveSequence extends ObservedSequence {
  /** Stage in whose queue it waits; undefined: in none. */
  readonly waitingIn: Stage | undefined;
  /** Time of the last event of the sequence, ms of `performance.now()`. */
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

/** The number of waiting sequences in the cluster, by stage. */
export abstract class WaitingTotals {
  /** The numbers of the last refresh. */
  abstract readonly waiting: Readonly<Record<Stage, number>>;
  abstract refreshTotals(): Promise<void>;
}

/** A decode leg of an outside router that waits for its prefill leg. No engine has its job yet. */
export interface WaitingLeg {
  /** The engine at whose own port it came in; undefined: any engine of its stage. */
  readonly engineId: string | undefined;
  readonly promptTokens: number;
}

/** The legs of this process that wait. */
export abstract class WaitingLegs implements Iterable<WaitingLeg> {
  abstract [Symbol.iterator](): Iterator<WaitingLeg>;
}
