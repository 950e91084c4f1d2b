import type { Micros } from '@baton/kernel';
import type { EngineRole, Topology } from '../placement/topology/topology';

/** One data-parallel rank of an engine, as a scrape of `/metrics` shows it. */
export interface RankSample {
  /** `starting` ranks load, `draining` ones take no more work. */
  readonly state: 'starting' | 'ready' | 'draining';
  /** Sequences in batches. */
  readonly running: number;
  /** Sequences in the rank that are in no batch. */
  readonly waiting: number;
  /** 0..1. */
  readonly kvUsage: number;
}

/** One engine: all its ranks together. */
export interface EngineSample extends RankSample {
  readonly engineId: string;
  /** Role of the engine; while it changes its role, the new one. */
  readonly role: EngineRole;
  /** The old role of such an engine while it drains. Unset: no change of role. */
  readonly formerRole?: EngineRole;
}

/**
 * An engine as the sum of its ranks, for both clocks: it is ready when all of them are, and its KV
 * usage is their mean.
 */
export function engineOfRanks(ranks: readonly RankSample[]): RankSample {
  const isAny = (state: RankSample['state']): boolean => ranks.some((rank) => rank.state === state);
  const sum = (of: (rank: RankSample) => number): number =>
    ranks.reduce((total, rank) => total + of(rank), 0);
  return {
    state: isAny('draining') ? 'draining' : isAny('starting') ? 'starting' : 'ready',
    running: sum(({ running }) => running),
    waiting: sum(({ waiting }) => waiting),
    kvUsage: sum(({ kvUsage }) => kvUsage) / ranks.length,
  };
}

/** Sum and count of a histogram since the start, in seconds. */
export interface SampleSum {
  readonly sumSeconds: number;
  readonly count: number;
}

/** Counters of requests since the start of the cluster. */
export interface RequestTotals {
  /** Admitted requests. */
  readonly arrived: number;
  readonly finished: number;
  /** Prompt tokens of finished requests. */
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly ttft: SampleSum;
  /** Gaps between two tokens of one request. */
  readonly itl: SampleSum;
  readonly e2el: SampleSum;
}

/** One scrape of a cluster. Nothing in it is newer than `atUs`. */
export interface ClusterSample {
  readonly atUs: Micros;
  readonly engines: readonly EngineSample[];
  /** Requests that wait for a role and that no engine has taken. */
  readonly queued: Topology;
  readonly totals: RequestTotals;
}

export const ROLES: readonly EngineRole[] = ['prefill', 'decode', 'aggregated'];

export function enginesIn({ engines }: ClusterSample, role: EngineRole): EngineSample[] {
  return engines.filter((engine) => engine.role === role);
}

/** Ready and starting engines, which a Deployment counts as replicas. */
export function countsOf(sample: ClusterSample): Topology {
  const count = (role: EngineRole): number =>
    enginesIn(sample, role).filter(({ state }) => state !== 'draining').length;
  return {
    prefill: count('prefill'),
    decode: count('decode'),
    aggregated: count('aggregated'),
  };
}
