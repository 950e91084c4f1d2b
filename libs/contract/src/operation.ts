import type { BatchView } from './batch-view';

/**
 * An operator's command to every engine and every API process, over one channel. Each process that
 * carries it out answers on `replyTo`.
 */
export type Operation =
  /**
   * Engines drop the cached prefixes that no sequence uses; with `forgetsHost` also those in host
   * memory.
   */
  | {
      readonly kind: 'reset-prefix-cache';
      readonly replyTo: string;
      readonly forgetsHost: boolean;
    }
  /** Engines begin no step until a `resume`. API processes report `isSleep`. */
  | {
      readonly kind: 'pause';
      readonly replyTo: string;
      readonly isSleep: boolean;
      /**
       * The level of sleep: 0 is a pause; 2 drops the weights too, which takes no time here. Unset:
       * 1.
       */
      readonly level?: 0 | 1 | 2;
    }
  | { readonly kind: 'resume'; readonly replyTo: string }
  /** Engines report their sequences; the reply has `batch`. */
  | { readonly kind: 'show-batch'; readonly replyTo: string }
  /** API processes end these requests, or all, with the tokens received so far. */
  | {
      readonly kind: 'abort-requests';
      readonly replyTo: string;
      /** Ids of answers or of requests; undefined for all. */
      readonly requestIds: readonly string[] | undefined;
    };

export interface OperationReply {
  /** The engine or API process. */
  readonly from: string;
  /** False when it failed. */
  readonly isDone: boolean;
  /** Requests that it affected. */
  readonly count: number;
  readonly batch?: BatchView;
}
