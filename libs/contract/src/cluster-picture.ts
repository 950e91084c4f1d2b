import type { Stage } from './job';
import type { StepTimeOrigin } from './presence';

/**
 * The messages of `GET /ui/stream` to the live page: `hello` once to each viewer, then a few
 * `picture` a second, one text for all viewers. Requests are those of the API process that answers,
 * engines those of the cluster.
 */
export interface ClusterHello {
  readonly api: string;
  readonly version: string;
  readonly model: string;
  readonly topology: string;
  readonly speedup: number;
  readonly intervalMs: number;
  /** Whether the page can change settings. */
  readonly hasSettings: boolean;
  /**
   * Names of the requests in earlier pictures: `[key, name, prompt tokens, most output tokens]`.
   */
  readonly names: readonly RequestName[];
}

export type RequestName = readonly [
  key: number,
  name: string,
  promptTokens: number,
  maxTokens: number,
];

export const PICTURE_PHASES = ['queue', 'prefill', 'transfer', 'decode'] as const;
export type PicturePhase = (typeof PICTURE_PHASES)[number];

export interface ClusterPicture {
  /** ms of the wall clock since the Unix epoch. */
  readonly at: number;
  readonly engines: readonly PictureEngine[];
  /** Requests by phase, in the order of `PICTURE_PHASES`, including those not shown. */
  readonly phases: readonly number[];
  /** Jobs that wait for prefill, decode and aggregated engines, over all API processes. */
  readonly waiting: Readonly<Record<Stage, number>>;
  /**
   * Four numbers each: key, index in `PICTURE_PHASES`, index of the engine (-1: none), tokens
   * received.
   */
  readonly requests: readonly number[];
  /** Two numbers for each request that has ended since the last picture: key, tokens received. */
  readonly ended: readonly number[];
  /** Names of requests that no earlier picture has shown. */
  readonly names: readonly RequestName[];
  readonly rates: PictureRates;
  /** One entry per step-time model among the engines. */
  readonly stepTimes: readonly PictureStepTimes[];
}

/** The step-time model that some engines of a cluster share. */
export interface PictureStepTimes extends StepTimeOrigin {
  readonly roles: readonly Stage[];
  /** Steps outside of the measured range; null when the model has no range. */
  readonly outsideSteps: number | null;
  /** Steps outside of the range whose shape was not measured at all. */
  readonly unmeasuredSteps: number;
  /** The farthest of the others as a multiple of the largest measured value; 1: none is above. */
  readonly farthestOutside: number;
}

export interface PictureEngine {
  readonly id: string;
  /** `P0`, `D3`. */
  readonly name: string;
  readonly role: Stage;
  readonly state: string;
  /** The cause that a starting engine loads for, or `cache`. */
  readonly loading?: string;
  readonly running: number;
  readonly waiting: number;
  /** The part of `waiting` whose KV is on its way from another engine. */
  readonly fetching: number;
  /** 0..1. */
  readonly kvUsage: number;
  readonly heldBlocks: number;
  readonly numBlocks: number;
  /** Duration of the last step in simulated ms; 0 before the first. */
  readonly stepMs: number;
  /** Steps since the engine's start. */
  readonly steps: number;
  /** The worst recent pause of its process, ms, when that is longer than `starved_after`. */
  readonly starvedMs?: number;
}

/** Rates over the last second, in simulated time; null when there was nothing to measure. */
export interface PictureRates {
  readonly ttftMs: Quantiles | null;
  readonly itlMs: Quantiles | null;
  readonly tokensPerSecond: number;
  readonly requestsPerSecond: number;
  readonly finishedPerSecond: number;
  /** Requests that got 429 or 503 before they were queued. */
  readonly refusedPerSecond: number;
  /** Requests that can never fit an engine (400). Unset: not a recorded run. */
  readonly misfitsPerSecond?: number;
  /** Requests that the cluster lost (500). Unset: not a recorded run. */
  readonly failedPerSecond?: number;
  /** Their parts by error code, the largest first; empty in a recorded run. */
  readonly refusals: readonly PictureRefusal[];
  /**
   * Share of the tokens that came too late after the end of their step, 0..1, when they change a
   * latency. Unset: they do not, or the run is on the virtual clock.
   */
  readonly lateShare?: number;
  /** The latencies that late tokens change. Unset: none. */
  readonly lateFigures?: readonly LateFigure[];
  /** The worst recent pause of an API process, ms, when that is longer than `starved_after`. */
  readonly apiStarvedMs?: number;
}

export type LateFigure = `${'ttft' | 'itl'} ${'p50' | 'p99'}`;

export interface PictureRefusal {
  readonly code: string;
  readonly perSecond: number;
}

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}
