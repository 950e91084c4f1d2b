import type { Stage } from './job';
import type { StepTimeOrigin } from './presence';

/**
 * What `GET /ui/stream` sends to the live page: `hello` once to each viewer, then a few `picture` a
 * second, one text for all viewers. Requests are those of the API process that answers, engines
 * those of the cluster.
 */
export interface ClusterHello {
  readonly api: string;
  readonly version: string;
  readonly model: string;
  readonly topology: string;
  readonly speedup: number;
  readonly intervalMs: number;
  /** Whether settings may be changed. */
  readonly hasSettings: boolean;
  /**
   * Names of the requests that pictures before this one have named: `[key, name, prompt tokens,
   * most output tokens]`.
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
  /** Requests by phase, in the order of `PICTURE_PHASES`, those not shown included. */
  readonly phases: readonly number[];
  /** Jobs that wait for prefill, decode and aggregated engines, over all API processes. */
  readonly waiting: Readonly<Record<Stage, number>>;
  /**
   * Four numbers each: key, index in `PICTURE_PHASES`, index of the engine (-1: none), tokens
   * received.
   */
  readonly requests: readonly number[];
  /** Names of those that no picture has shown before. */
  readonly names: readonly RequestName[];
  readonly rates: PictureRates;
  /** One entry per kind of step times among the engines. */
  readonly stepTimes: readonly PictureStepTimes[];
}

/** The step times that some engines of a cluster share. */
export interface PictureStepTimes extends StepTimeOrigin {
  readonly roles: readonly Stage[];
  /** Steps outside of the measured range; null: the step times have no range. */
  readonly outsideSteps: number | null;
  /** How many times the largest measured value the farthest of these had; 1: none. */
  readonly farthestOutside: number;
}

export interface PictureEngine {
  readonly id: string;
  readonly index: number;
  readonly role: Stage;
  readonly state: string;
  readonly running: number;
  readonly waiting: number;
  /** Of the waiting: those whose KV is on its way from another engine. */
  readonly fetching: number;
  /** 0..1. */
  readonly kvUsage: number;
  readonly heldBlocks: number;
  readonly numBlocks: number;
  /** Simulated ms that the last step took; 0 before the first. */
  readonly stepMs: number;
  /** Steps since the engine's start. */
  readonly steps: number;
  /** The worst pause of its process of late, ms, when that is longer than `starved_after`. */
  readonly starvedMs?: number;
}

/** Over the last second, in simulated time; null where there was nothing to measure. */
export interface PictureRates {
  readonly ttftMs: Quantiles | null;
  readonly itlMs: Quantiles | null;
  readonly tokensPerSecond: number;
  readonly requestsPerSecond: number;
  readonly finishedPerSecond: number;
  /** Requests that got 429 or 503 before anything of them was queued. */
  readonly refusedPerSecond: number;
}

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}
