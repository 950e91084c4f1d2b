import type { Epoch } from './epoch';
import type { Stage } from './job';

/**
 * What an engine reports to the API process that awaits a request about its run, beside the token
 * frames: once per fact, many facts of many requests in one message, never one per token. Instants
 * are µs of the wall clock since the Unix epoch.
 */
export type EngineFactKind =
  /** The job was taken from its queue. */
  | 'taken'
  /** A part of the prompt was computed, from `atUs` to `endUs`: `tokens`. */
  | 'chunk'
  /** Decode has blocks for it; `tokens` are missing. */
  | 'reserved'
  /**
   * The KV of `tokens` tokens came over a link from `atUs` to `endUs`. When no KV was missing, both
   * instants are the same.
   */
  | 'transfer'
  /** The sequence lost its blocks to others and is computed again. */
  | 'preempted'
  /** The blocks that were held for decode are free. */
  | 'released';

/** `[kind, atUs, endUs, tokens]`; the last two are 0 when they do not apply. */
export type EngineFact = readonly [
  kind: EngineFactKind,
  atUs: number,
  endUs: number,
  tokens: number,
];

/** The facts of one run. */
export interface RunFacts {
  readonly requestId: string;
  readonly epoch: Epoch;
  readonly facts: readonly EngineFact[];
}

/** One message from one engine to one API process. */
export interface EngineFacts {
  readonly engineId: string;
  readonly stage: Stage;
  readonly runs: readonly RunFacts[];
}

/**
 * `GET /v1/requests/{id}/timeline`. All instants but `arrival_us` are simulated µs since the
 * arrival.
 */
export interface RequestTimeline {
  readonly object: 'request.timeline';
  /** Id of the answer. */
  readonly id: string;
  /** `X-Request-Id`. */
  readonly request_id: string;
  /** Path of the request. */
  readonly endpoint: string;
  readonly model: string;
  readonly state: TimelineState;
  /** The API process that served it. */
  readonly api: string;
  /** µs of the wall clock since the Unix epoch. */
  readonly arrival_us: number;
  /** Simulated µs per µs of the wall clock. */
  readonly speedup: number;
  /** Time until its end, or until now while it runs. */
  readonly duration_us: number;
  readonly sequences: readonly SequenceTimeline[];
}

export type TimelineState = 'running' | 'completed' | 'failed' | 'aborted';

/** One prompt and choice of a request. */
export interface SequenceTimeline {
  readonly id: string;
  readonly index: number;
  readonly state: TimelineState;
  readonly finish_reason: string | null;
  readonly error: string | null;
  /** Way through the cluster: `route` (hand-over), `local`, `hold`, `attach`. */
  readonly flow: string;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly transferred_tokens: number;
  readonly output_tokens: number;
  readonly preemptions: number;
  readonly prefill_engine: TimelineEngine | null;
  readonly decode_engine: TimelineEngine | null;
  /** The phases of the sequence without gaps; the last one has no end while it runs. */
  readonly phases: readonly TimelineSpan[];
  /** The chunks in which the prompt was computed. */
  readonly prefill_chunks: readonly TimelineSpan[];
  /** The time for which prefill held the blocks. */
  readonly held: TimelineSpan | null;
  readonly events: readonly TimelineEvent[];
  readonly steps: TimelineSteps;
}

export interface TimelineEngine {
  readonly id: string;
  /** `P0`, `D3`. */
  readonly name: string;
  /** Unique among the living engines of the cluster; null when it has left. */
  readonly index: number | null;
}

export interface TimelineSpan {
  readonly name: string;
  readonly start_us: number;
  readonly end_us: number | null;
  readonly duration_us: number | null;
  readonly tokens?: number;
}

export interface TimelineEvent {
  readonly name: string;
  readonly at_us: number;
  /** Name of the engine. */
  readonly engine?: string;
  readonly tokens?: number;
}

/** Times of tokens, as engines stamped them. */
export interface TimelineSteps {
  readonly count: number;
  /** Steps per row: 1, or more when there were too many to keep. */
  readonly per_row: number;
  /** `[at_us, tokens]`, the tokens that came by then. */
  readonly rows: readonly (readonly [number, number])[];
}
