import type { Epoch } from './epoch';
import type { LegFailure } from './executed';
import type { Stage } from './job';
import type { EnginePresence } from './presence';

/**
 * The messages that engines and the API send to one engine over its own channel. The first five are
 * the NIXL side channel of the hand-over, as JSON, several of one turn in an array; `to` is always
 * the engine id of the channel, `from` the engine that gets the answer.
 */
export type EngineMessage =
  /**
   * Decode requests blocks from the KV holder. `generation` names one holding of the blocks; the
   * answer to a stale one is `expired`.
   */
  | {
      readonly kind: 'read';
      readonly from: string;
      readonly requestId: string;
      readonly epoch: Epoch;
      readonly generation: number;
      readonly attempt: number;
      /** The request id that the reader uses; the answer repeats it. */
      readonly readerRequestId: string;
      /**
       * A hash of the holding and its prompt according to outside parameters; `epoch` is then 0.
       * The holder compares it with its holding, so that altered or mixed-up parameters never get
       * the KV of another request.
       */
      readonly claim?: number;
      /** For blocks kept for the next turn: the number of leading tokens that the claim covers. */
      readonly claimedTokens?: number;
      /** A fault: the holder treats the lease as ended. */
      readonly expires?: true;
    }
  | {
      readonly kind: 'read-answer';
      readonly from: string;
      readonly readerRequestId: string;
      readonly attempt: number;
      readonly outcome: 'blocks' | 'expired';
      /**
       * Tokens whose KV the holder has; the rate of one of its ports, their number, and the KV
       * bytes of a token behind each.
       */
      readonly heldTokens: number;
      readonly bytesPerSecond: number;
      readonly ports: number;
      readonly bytesPerToken: number;
      readonly activeReads: number;
      /**
       * True when the fault plan made this answer: then `kv_load_failure_policy` decides, not the
       * loss of a worker.
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
  /** An abort, or a rejection by decode: the holder frees the blocks immediately. */
  | {
      readonly kind: 'release';
      readonly from: string;
      readonly requestId: string;
      readonly generation: number;
    }
  /**
   * For a transfer whose two legs run on servers at the same time: one leg ended without doing its
   * part, so the other must not wait. `epoch` is that of the prefill run, `failure` that of its
   * leg; unset when decode's leg is over.
   */
  | {
      readonly kind: 'leg-over';
      readonly from: string;
      readonly requestId: string;
      readonly epoch: Epoch;
      readonly failure?: LegFailure;
    }
  /** Requests the numbers of this engine, as an `EngineReport` on `replyTo`. */
  | { readonly kind: 'tell-metrics'; readonly replyTo: string }
  /**
   * Request of a starting engine for the shared content of the prefix cache; the answer is a
   * `cache`.
   */
  | { readonly kind: 'tell-cache'; readonly from: string }
  /** Hashes of blocks, the first to evict first, and their groups of layers. */
  | {
      readonly kind: 'cache';
      readonly cache: {
        readonly freeOrder: readonly number[];
        readonly freeGroups: readonly number[];
      };
    }
  /**
   * From the process that manages the cluster: finish the running requests, take no more, and
   * leave. Repeated until the engine's presence shows that it drains.
   */
  | { readonly kind: 'leave' }
  /** Like `leave`; the worker then starts an engine of `role` in its place. */
  | { readonly kind: 'become'; readonly role: Stage }
  /** The API misses tokens of its stream from this index on. */
  | {
      readonly kind: 'resend';
      readonly apiId: string;
      readonly requestId: string;
      readonly streamId: number;
      readonly fromIndex: number;
    };

/** The numbers of an engine at a scrape. */
export interface EngineReport {
  readonly presence: EnginePresence;
  /**
   * The metrics of the server that does its work, in Prometheus' text format. Empty without a
   * server, and while it does not answer.
   */
  readonly page: string;
}

/** The messages to an engine about its own membership in the cluster. */
export type MembershipOrder = Extract<EngineMessage, { readonly kind: 'leave' | 'become' }>;
