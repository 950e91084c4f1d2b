import type { Assumption } from './assumption';
import type { Candidate } from './candidates';
import { type PlanFigures, type TaskResult, TOLERANCE } from './plan-task';

/** The estimate and the measurement of a split. */
export interface SplitResult {
  readonly name: string;
  readonly split: Candidate;
  /** Requests per second that rate matching expects. */
  readonly estimatedRate: number;
  /** Undefined: its estimate was too low to be simulated. */
  readonly measured: TaskResult | undefined;
}

/** A split at a load. */
export interface FrontierPoint {
  readonly name: string;
  readonly split: Candidate;
  readonly rate: number;
  readonly completedRate: number;
  readonly figures: PlanFigures;
  /** Whether no other point is at least as good in TTFT, TPOT and rate, and better in one. */
  readonly isOnFront: boolean;
}

/** The best split of each kind. */
export interface Contenders {
  readonly disaggregated: SplitResult | undefined;
  readonly aggregated: SplitResult | undefined;
}

/**
 * Goodput of the contenders under an assumption, in requests per second; undefined where there is
 * none.
 */
export interface SensitivityRow {
  readonly assumption: Assumption;
  readonly goodput: Readonly<Record<keyof Contenders, number | undefined>>;
}

export interface PlanResult {
  readonly splits: readonly SplitResult[];
  /** The results that can be compared. */
  readonly rivals: readonly SplitResult[];
  readonly winner: SplitResult;
  readonly contenders: Contenders;
  readonly frontier: readonly FrontierPoint[];
  readonly sensitivity: readonly SensitivityRow[];
  readonly simulations: number;
}

/**
 * Requests per second that the split or fleet completes at the highest rate which keeps the target;
 * 0 when there is none.
 */
export function goodputOf(result: Pick<SplitResult, 'measured'> | undefined): number {
  return result?.measured?.completedRate ?? 0;
}

/** Requests that can never fit an engine of the split; 0 where nothing is known. */
export function refusedBy(result: SplitResult): number {
  return result.measured?.figures?.refused ?? 0;
}

/**
 * The splits that can be compared. A split that refuses the longest prompts has less work than the
 * splits that serve them. Only splits that keep the target show how many requests must be refused.
 */
export function comparable(results: readonly SplitResult[]): SplitResult[] {
  const serving = results.filter((result) => goodputOf(result) > 0);
  const fewest = Math.min(...serving.map(refusedBy));
  return results.filter((result) => refusedBy(result) <= fewest);
}

/** The simulated one with the highest goodput; on a tie, the one with the higher estimate. */
export function bestOf(results: readonly SplitResult[]): SplitResult | undefined {
  const simulated = results.filter(({ measured }) => measured !== undefined);
  return simulated.reduce<SplitResult | undefined>((best, one) => {
    if (best === undefined) return one;
    const difference = goodputOf(one) - goodputOf(best) || one.estimatedRate - best.estimatedRate;
    return difference > 0 ? one : best;
  }, undefined);
}

/**
 * The result of comparing both kinds. Goodputs closer than the resolution of the search are equal.
 */
export type Preferred = 'disaggregated' | 'aggregated' | 'equal';

export function preferred(goodput: Readonly<Record<keyof Contenders, number>>): Preferred {
  const { disaggregated, aggregated } = goodput;
  if (Math.abs(disaggregated - aggregated) <= TOLERANCE * Math.max(disaggregated, aggregated)) {
    return 'equal';
  }
  return disaggregated > aggregated ? 'disaggregated' : 'aggregated';
}
