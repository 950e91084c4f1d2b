import type { Epoch } from './epoch';
import type { LegFailure } from './executed';
import type { Stage } from './job';

/**
 * What engines (and the API) say to one engine over its own channel. The first five are the NIXL
 * side channel of the hand-over, as JSON, several of one turn in an array; `to` is always the
 * engine id of the channel, `from` the engine that wants the answer.
 */
export type EngineMessage =
  /**
   * Decode asks the KV holder for blocks. `generation` names one holding of the blocks; a stale one
   * is answered `expired`.
   */
  | {
      readonly kind: 'read';
      readonly from: string;
      readonly requestId: string;
      readonly epoch: Epoch;
      readonly generation: number;
      readonly attempt: number;
      /** The request id under which the reader works, so that the answer finds it. */
      readonly readerRequestId: string;
      /**
       * What parameters from outside say about the holding and the prompt it is for, as one hash;
       * `epoch` is 0 then. The holder compares it with what it holds, so that altered or mixed-up
       * parameters never get somebody else's KV.
       */
      readonly claim?: number;
      /** Of blocks that were kept for a next turn: the leading tokens that the claim is on. */
      readonly claimedTokens?: number;
      /** The lease is to have ended, on purpose. */
      readonly expires?: true;
    }
  | {
      readonly kind: 'read-answer';
      readonly from: string;
      readonly readerRequestId: string;
      readonly attempt: number;
      readonly outcome: 'blocks' | 'expired';
      /** Tokens whose KV the holder has, and its link. */
      readonly heldTokens: number;
      readonly bytesPerSecond: number;
      readonly activeReads: number;
      /**
       * The fault plan made this answer: `kv_load_failure_policy` decides, not the loss of a
       * worker.
       */
      readonly isInjected?: boolean;
    }
  /** The number of active reads at the holder changed: readers recompute their rate. */
  | { readonly kind: 'read-share'; readonly from: string; readonly activeReads: number }
  /**
   * The reader has the blocks (`done`), or gave up (`abandoned`); both end the read. Only `done`
   * releases the holding.
   */
  | {
      readonly kind: 'read-end';
      readonly from: string;
      readonly requestId: string;
      readonly generation: number;
      readonly readerRequestId: string;
      readonly outcome: 'done' | 'abandoned';
    }
  /** Renews leases; batched per holder. */
  | { readonly kind: 'heartbeat'; readonly from: string; readonly requestIds: readonly string[] }
  /** The holder's side of an abort or of a decode-side rejection: free at once. */
  | {
      readonly kind: 'release';
      readonly from: string;
      readonly requestId: string;
      readonly generation: number;
    }
  /**
   * Of a transfer whose two legs are under way on servers at once, one is over without having done
   * its part: the other one need not wait. `epoch` is that of the prefill run, `failure` what
   * became of its leg; unset: decode's is over.
   */
  | {
      readonly kind: 'leg-over';
      readonly from: string;
      readonly requestId: string;
      readonly epoch: Epoch;
      readonly failure?: LegFailure;
    }
  /**
   * Somebody is asked for the metrics of this engine's server: `UpstreamMetrics` on `replyTo`. An
   * engine that has none says nothing.
   */
  | { readonly kind: 'tell-metrics'; readonly replyTo: string }
  /**
   * Whoever manages the cluster: finish what runs, take nothing more, and go. Sent again until the
   * engine is seen to drain.
   */
  | { readonly kind: 'leave' }
  /** As `leave`; what the engine ran on then becomes an engine of `role`. */
  | { readonly kind: 'become'; readonly role: Stage }
  /** The API misses tokens of its stream from this index on. */
  | {
      readonly kind: 'resend';
      readonly apiId: string;
      readonly requestId: string;
      readonly streamId: number;
      readonly fromIndex: number;
    };

/**
 * What the server of an engine counts, in Prometheus' text format; empty while it does not answer.
 */
export interface UpstreamMetrics {
  readonly engineId: string;
  readonly page: string;
}

/** What an engine is told about its own membership in the cluster. */
export type MembershipOrder = Extract<EngineMessage, { readonly kind: 'leave' | 'become' }>;
