import type { Micros } from '@baton/kernel';
import type { AnyId } from './request-table';

/** The reasons for freeing held blocks: the terminal states of a holding. */
export type ReleaseReason = 'read-done' | 'expired' | 'aborted' | 'superseded' | 'rejected';

/**
 * The facts for the engine that holds KV. `nowUs` is its own simulated clock; an instant before an
 * earlier one counts as that one. `epoch` is that of the prefill run, and `generation` the number
 * that the holding got from `hand-over`.
 */
export type SourceFact<Id extends AnyId = string> =
  /** The prompt of this run is computed, or its answer is complete, and its blocks are held. */
  | {
      readonly kind: 'prompt-held';
      readonly requestId: Id;
      readonly epoch: number;
      readonly tokens: number;
      /**
       * Decode no longer needs the blocks, and the next turn can read them: they wait for `keepUs`.
       */
      readonly isKept?: boolean;
      /** The cluster itself routes the reader: the blocks wait for `routedUs`. */
      readonly isRouted?: boolean;
      readonly nowUs: Micros;
    }
  /** A reader requests the blocks. Each `attempt` is answered as it comes. */
  | {
      readonly kind: 'read-requested';
      readonly requestId: Id;
      readonly epoch: number;
      readonly generation: number;
      /** The reading engine, and its request id. */
      readonly reader: Id;
      readonly readerRequestId: Id;
      readonly attempt: number;
      readonly nowUs: Micros;
    }
  /**
   * The reader needs no more blocks (`done`), with or without a read before, or it stopped the read
   * (`abandoned`).
   */
  | {
      readonly kind: 'read-ended';
      readonly requestId: Id;
      readonly generation: number;
      readonly reader: Id;
      readonly readerRequestId: Id;
      readonly outcome: 'done' | 'abandoned';
      readonly nowUs: Micros;
    }
  | {
      readonly kind: 'heartbeat';
      readonly reader: Id;
      readonly requestIds: readonly Id[];
      readonly nowUs: Micros;
    }
  /**
   * The reader refused the request, or aborted it. Without a generation: all holdings under that
   * id.
   */
  | {
      readonly kind: 'release-requested';
      readonly requestId: Id;
      readonly generation?: number;
      readonly reader: Id;
      readonly nowUs: Micros;
    }
  /** The request has ended, in every epoch. */
  | { readonly kind: 'aborted'; readonly requestId: Id; readonly nowUs: Micros }
  /**
   * This run and older ones are void: the ledger refused the hand-over, or another worker took
   * over.
   */
  | {
      readonly kind: 'superseded';
      readonly requestId: Id;
      readonly epoch: number;
      readonly nowUs: Micros;
    }
  | { readonly kind: 'tick'; readonly nowUs: Micros };

/** The actions for the driver of a source, in this order. */
export type SourceAction<Id extends AnyId = string> =
  /**
   * The holding exists: publish its name for decode. The lease ends at `leaseEndsUs` unless
   * renewed.
   */
  | {
      readonly kind: 'hand-over';
      readonly requestId: Id;
      readonly epoch: number;
      readonly generation: number;
      readonly heldTokens: number;
      readonly leaseEndsUs: Micros;
    }
  | {
      readonly kind: 'answer-read';
      readonly to: Id;
      readonly readerRequestId: Id;
      readonly attempt: number;
      readonly outcome: 'blocks' | 'expired';
      readonly heldTokens: number;
      /** Reads under way at this engine, this one included. */
      readonly activeReads: number;
    }
  /** Send these readers' engines the current number of reads on this engine's link. */
  | {
      readonly kind: 'share-changed';
      readonly readers: readonly Id[];
      readonly activeReads: number;
    }
  /** Free the blocks of this run. `readers` is the number of engines that have read them. */
  | {
      readonly kind: 'release-blocks';
      readonly requestId: Id;
      readonly epoch: number;
      readonly generation: number;
      readonly reason: ReleaseReason;
      readonly readers: number;
    };

export interface SourceCounters {
  readonly held: number;
  readonly released: Readonly<Record<ReleaseReason, number>>;
  /**
   * Reads answered with blocks (a repeated request counts once), and requests answered `expired`.
   */
  readonly reads: number;
  readonly staleReads: number;
  /** Reads whose end was never reported. */
  readonly lostReads: number;
  /** Lease renewals requested, over all heartbeats. */
  readonly renewals: number;
}

/** The state of one holding, for tests and for inspection of an engine. */
export interface HoldingView<Id extends AnyId = string> {
  readonly requestId: Id;
  readonly epoch: number;
  readonly generation: number;
  readonly tokens: number;
  /** Undefined once no new read is admitted. */
  readonly leaseEndsUs: Micros | undefined;
  readonly reads: readonly {
    readonly reader: Id;
    readonly readerRequestId: Id;
    readonly endsUs: Micros;
  }[];
}
