import type { IntervalHistogram, RequestLog } from '@baton/analysis';
import type { Workload } from '@baton/workload';
import type { RequestTiming } from '../formats/request-steps';
import type { Counters } from './counters';

/** A request as it was answered. */
export interface Answered extends RequestTiming {
  /** Prompt tokens that the server says it had computed before. */
  readonly cachedTokens: number;
}

/** What came of some requests. */
export interface TargetRun {
  /** By row; undefined for one that was not answered whole. */
  readonly answers: readonly (Answered | undefined)[];
  readonly log: RequestLog;
  readonly itl: IntervalHistogram;
  /** Kind, how often, and what the server said the first time. */
  readonly failures: readonly {
    readonly error: string;
    readonly count: number;
    readonly example: string;
  }[];
  /** Why the figures of the sender must not be trusted; null when they may. */
  readonly void: string | null;
}

/** The cluster that is measured. Every wait has an end. */
export interface LiveTarget {
  /**
   * Sends requests at their instants, each with a prompt that no other has, and waits until all
   * have ended.
   *
   * @param goesOn  prompts begin with those of the run before, row by row, as far as they go
   */
  run(workload: Workload, goesOn?: boolean): Promise<TargetRun>;
  /** What its engines have counted so far; undefined: it does not say. */
  counters(): Promise<Counters | undefined>;
  /**
   * Bytes of KV that went from engine to engine for these requests; undefined: they are not
   * counted.
   */
  kvBytesOf(workload: Workload): Promise<number | undefined>;
}
