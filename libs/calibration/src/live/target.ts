import type { IntervalHistogram, RequestLog } from '@baton/analysis';
import type { Workload } from '@baton/workload';
import type { RequestTiming } from '../formats/request-steps';
import type { Counters } from './counters';

/** A request with its answer. */
export interface Answered extends RequestTiming {
  /** Cached prompt tokens by the server's usage. */
  readonly cachedTokens: number;
}

/** The results of a set of requests. */
export interface TargetRun {
  /** By row. Undefined for a request that was not answered whole. */
  readonly answers: readonly (Answered | undefined)[];
  readonly log: RequestLog;
  readonly itl: IntervalHistogram;
  /** Kind, number, and the server's first message. */
  readonly failures: readonly {
    readonly error: string;
    readonly count: number;
    readonly example: string;
  }[];
  /** The reason why the sender's figures are not reliable. Null when they are. */
  readonly void: string | null;
}

/** The cluster to measure. Every call ends within a limited time. */
export interface LiveTarget {
  /**
   * Sends requests at their instants, each with a unique prompt, and waits until all have ended.
   *
   * @param continues  true: each prompt begins with that of the same row of the previous run, over
   * the shorter length
   */
  run(workload: Workload, continues?: boolean): Promise<TargetRun>;
  /** The counters of its engines so far. Undefined: it has no metrics. */
  counters(): Promise<Counters | undefined>;
  /**
   * Bytes of KV that were transferred between engines for these requests. Undefined: not counted.
   */
  measureKvBytes(workload: Workload): Promise<number | undefined>;
}
