import type { Micros } from '@baton/kernel';
import type { IntervalHistogram } from './interval-histogram';
import type { KvPoolRecord } from './kv-pool-summary';
import type { RequestLog } from './request-log';
import type { LifeEvent, ScalingRecord } from './scaling-record';

export type EngineRoleName = 'prefill' | 'decode' | 'aggregated';

/** Totals of one engine over a run. */
export interface EngineRecord {
  readonly engineId: string;
  readonly role: EngineRoleName;
  /** Number of its GPUs: tensor-parallel size times its other parallel sizes. */
  readonly gpus: number;
  readonly numBlocks: number;
  /** Most sequences in a batch, and most tokens in a step. */
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly steps: number;
  /** Time during which a step was under way, µs. */
  readonly busyUs: Micros;
  /** The part of it in steps that compute prompts, with or without decodes. */
  readonly prefillBusyUs: Micros;
  /** Time from the instant at which the engine is ready until it leaves, µs. */
  readonly upUs: Micros;
  readonly promptTokensComputed: number;
  readonly promptTokensCached: number;
  readonly promptTokensTransferred: number;
  readonly prefixQueriesTokens: number;
  readonly prefixHitsTokens: number;
  readonly generatedTokens: number;
  readonly preemptions: number;
  readonly finished: number;
  /** Mean number of sequences in its batch, over the run. */
  readonly runningMean: number;
  readonly kvTransferBytes: number;
  readonly kvUsageMean: number;
  readonly kvUsageMax: number;
  readonly leaseExpiries: number;
  /** Unset: the engine is in no KV pool. */
  readonly kvPool?: KvPoolRecord;
}

/** Gauges of every engine at equal intervals: `values[metric][engine * samples + sample]`. */
export interface SeriesRecord {
  readonly startUs: Micros;
  readonly intervalUs: Micros;
  readonly samples: number;
  readonly running: Float32Array;
  readonly waiting: Float32Array;
  /** The part of `waiting` whose KV is on its way from another engine. */
  readonly fetching: Float32Array;
  readonly kvUsage: Float32Array;
  readonly heldBlocks: Float32Array;
}

/** The record of a run, from which all figures are computed. */
export interface RunRecord {
  readonly log: RequestLog;
  readonly engines: readonly EngineRecord[];
  /** Gaps between the tokens of one request, over all requests. */
  readonly itl: IntervalHistogram;
  readonly series: SeriesRecord;
  /** The states that the engines entered, in order of time. */
  readonly lives: readonly LifeEvent[];
  /** Unset: no autoscaler ran. */
  readonly scaling?: ScalingRecord;
  /** Instant of the last event. */
  readonly endUs: Micros;
  readonly steps: number;
  /** Events that the driver handled; a leap is one. */
  readonly events: number;
}
