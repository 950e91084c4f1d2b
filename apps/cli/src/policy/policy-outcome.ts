import type { Summary } from '@baton/analysis';
import type { PreparedReplay } from '@baton/replay';
import type { PolicyChoice } from './policy-kinds';

/** A policy of a comparison, and the replay that it decides in. */
export interface PolicyTrial {
  readonly choice: PolicyChoice;
  readonly prepared: PreparedReplay;
}

/** The results of one policy on the workload. */
export interface PolicyOutcome {
  readonly policy: string;
  readonly summary: Summary;
  /** Decisions that the fallback made because the policy failed. */
  readonly faults: number;
  readonly wallSeconds: number;
  /** Null where no policy decides, as under `pull`. */
  readonly decisionsPerSecond: number | null;
  /** Undefined: the policy ran only on the virtual clock, or the live test was interrupted. */
  readonly live?: LiveFigures | undefined;
}

/** The results of a policy on the live clock, in simulated time. */
export interface LiveFigures {
  readonly ttft_ms: number;
  readonly ttft_ms_p99: number;
  readonly tpot_ms: number;
  /** Null without an SLO. */
  readonly goodput_rps: number | null;
  /** Cached share of the prompt tokens that engines looked up; null: none were. */
  readonly prefix_hit_rate: number | null;
  /** As on the virtual clock; null: no engine was busy. */
  readonly imbalance: number | null;
  readonly completed: number;
  /** Decisions of the API's router, per second of wall time; null when it made none. */
  readonly decisions_per_second: number | null;
  /** Simulated, while the load ran; null: the load has no duration. */
  readonly gpu_hours: number | null;
  /** Decisions that the fallback made. */
  readonly policy_faults: number;
  /** The reason why the figures are void; null when they are valid. */
  readonly void: string | null;
}
