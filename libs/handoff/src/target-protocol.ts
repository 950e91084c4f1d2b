import type { Micros } from '@baton/kernel';
import type { AnyId } from './request-table';

/**
 * The location of a prompt's KV, from the hand-over record or from outside `kv_transfer_params`.
 */
export interface SourceName<Id extends AnyId = string> {
  readonly engineId: Id;
  /**
   * The request id at the source; it differs from the reader's when the parameters came from
   * outside.
   */
  readonly requestId: Id;
  readonly epoch: number;
  readonly generation: number;
}

/**
 * The reason why a fetch failed. `lost`: the source has left the cluster. `expired`: it no longer
 * has the blocks. `timeout`: it did not answer. `aborted`: the request was aborted. `rejected`:
 * this engine cannot serve it. `superseded`: another run has taken over.
 */
export type FetchFailure = 'lost' | 'expired' | 'timeout' | 'aborted' | 'rejected' | 'superseded';

/**
 * The facts for the engine that fetches KV. `epoch` is that of its own run; `nowUs` is its
 * simulated clock, and an instant before an earlier one counts as that one.
 */
export type TargetFact<Id extends AnyId = string> =
  /** The job is taken; from here on the source gets heartbeats for it. */
  | {
      readonly kind: 'accepted';
      readonly requestId: Id;
      readonly epoch: number;
      readonly source: SourceName<Id>;
      readonly nowUs: Micros;
    }
  /** This engine refuses the request before it accepts it: the source can free its blocks. */
  | {
      readonly kind: 'rejected';
      readonly requestId: Id;
      readonly epoch: number;
      readonly source: SourceName<Id>;
      readonly nowUs: Micros;
    }
  /**
   * Blocks for the prompt are reserved; `missingTokens` of it are not in the local prefix cache.
   * They are to fill `missingBlocks`, counted over all groups of layers.
   */
  | {
      readonly kind: 'reserved';
      readonly requestId: Id;
      readonly epoch: number;
      readonly missingTokens: number;
      readonly missingBlocks: number;
      readonly nowUs: Micros;
    }
  | {
      readonly kind: 'read-answered';
      readonly from: Id;
      /** The `requestId` of `accepted`: the reader's own. */
      readonly requestId: Id;
      readonly attempt: number;
      readonly outcome: 'blocks' | 'expired';
      readonly heldTokens: number;
      /** Capacity of one port of the source; then what `KvPorts` has of it. */
      readonly bytesPerSecond: number;
      readonly ports: number;
      readonly bytesPerToken: number;
      readonly activeReads: number;
      readonly nowUs: Micros;
    }
  | {
      readonly kind: 'share-changed';
      readonly from: Id;
      readonly activeReads: number;
      readonly nowUs: Micros;
    }
  /** The transfer that `start-transfer` began is complete. */
  | {
      readonly kind: 'transfer-done';
      readonly requestId: Id;
      readonly epoch: number;
      readonly nowUs: Micros;
    }
  /** This engine has left the cluster, or came back as another incarnation. */
  | { readonly kind: 'source-lost'; readonly engineId: Id; readonly nowUs: Micros }
  /** The request has ended, in every epoch: both sides free its blocks. */
  | { readonly kind: 'aborted'; readonly requestId: Id; readonly nowUs: Micros }
  /**
   * This run and older ones are void, but the request continues: only this side frees its blocks.
   */
  | {
      readonly kind: 'superseded';
      readonly requestId: Id;
      readonly epoch: number;
      readonly nowUs: Micros;
    }
  | { readonly kind: 'tick'; readonly nowUs: Micros };

/** The actions for the driver of a target, in this order. */
export type TargetAction<Id extends AnyId = string> =
  | {
      readonly kind: 'send-read';
      readonly to: Id;
      readonly requestId: Id;
      readonly epoch: number;
      readonly generation: number;
      /** Never used twice by one coordinator. */
      readonly attempt: number;
      readonly readerRequestId: Id;
    }
  | {
      readonly kind: 'start-transfer';
      readonly requestId: Id;
      readonly epoch: number;
      readonly sourceId: Id;
      /** Blocks to read, and the bytes whose time the transfer takes. */
      readonly blocks: number;
      readonly bytes: number;
      /**
       * Capacity of one port of the source, its ports for each port here, and the number of reads
       * that share them now.
       */
      readonly bytesPerSecond: number;
      readonly sourcePorts: number;
      readonly activeReads: number;
    }
  /** The rate of the transfers from this source changes. */
  | { readonly kind: 'set-share'; readonly sourceId: Id; readonly activeReads: number }
  | { readonly kind: 'cancel-transfer'; readonly requestId: Id; readonly epoch: number }
  | {
      readonly kind: 'send-read-end';
      readonly to: Id;
      readonly requestId: Id;
      readonly generation: number;
      readonly readerRequestId: Id;
      readonly outcome: 'done' | 'abandoned';
    }
  | {
      readonly kind: 'send-heartbeats';
      readonly to: Id;
      readonly requestIds: readonly Id[];
    }
  | {
      readonly kind: 'send-release';
      readonly to: Id;
      readonly requestId: Id;
      readonly generation: number;
    }
  /**
   * The prompt's KV is complete here: let the sequence run. `transferredTokens` came over the link.
   */
  | {
      readonly kind: 'kv-ready';
      readonly requestId: Id;
      readonly epoch: number;
      readonly transferredTokens: number;
      readonly transferredBlocks: number;
      readonly transferredBytes: number;
      /** Time from the source's answer to the last byte; 0 when no KV was missing. */
      readonly transferUs: Micros;
    }
  /** The prompt's KV will not come: apply the failure policy, or free what was reserved. */
  | {
      readonly kind: 'kv-failed';
      readonly requestId: Id;
      readonly epoch: number;
      readonly why: FetchFailure;
    };

export interface TargetCounters {
  readonly accepted: number;
  readonly received: number;
  /** Received prompts that needed no transfer. */
  readonly nothingMissing: number;
  readonly failed: Readonly<Record<FetchFailure, number>>;
  readonly transferredBytes: number;
  readonly transferredTokens: number;
  /** Requests that were repeated. */
  readonly repeatedReads: number;
  readonly heartbeats: number;
}

/** The state of one fetch, for tests and for inspection of an engine. */
export interface FetchView<Id extends AnyId = string> {
  readonly requestId: Id;
  readonly epoch: number;
  readonly state: 'accepted' | 'reading' | 'transferring';
  readonly sourceId: Id;
  readonly attempt: number;
  readonly missingTokens: number;
}
