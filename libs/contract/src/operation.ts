import type { BatchView } from './batch-view';

/**
 * What an operator asks of every engine and every API process, over one channel; whoever acts on it
 * answers on `replyTo`.
 */
export type Operation =
  /** Engines forget the prefixes that nobody uses now; `forgetsHost`: those in host memory too. */
  | {
      readonly kind: 'reset-prefix-cache';
      readonly replyTo: string;
      readonly forgetsHost: boolean;
    }
  /**
   * Engines begin no step until they are told to resume; `isSleep` is what API processes say about
   * it.
   */
  | {
      readonly kind: 'pause';
      readonly replyTo: string;
      readonly isSleep: boolean;
      /**
       * Of the sleep: 0 is a pause, with 2 the weights are forgotten too, which takes no time here.
       * Unset: 1.
       */
      readonly level?: 0 | 1 | 2;
    }
  | { readonly kind: 'resume'; readonly replyTo: string }
  /** Engines show what they have in hand; answered with `batch`. */
  | { readonly kind: 'show-batch'; readonly replyTo: string }
  /** API processes end these requests, or all, with what they have got so far. */
  | {
      readonly kind: 'abort-requests';
      readonly replyTo: string;
      /** Ids of answers or of requests; undefined: all. */
      readonly requestIds: readonly string[] | undefined;
    };

export interface OperationReply {
  /** The engine or API process. */
  readonly from: string;
  /** False when it could not be done. */
  readonly isDone: boolean;
  /** Requests that it concerned. */
  readonly count: number;
  readonly batch?: BatchView;
}
