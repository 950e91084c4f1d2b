import type { Assumption } from './assumption';
import type { Candidate } from './candidates';
import type { Explanation } from './explanation';
import type { LoadAnswer } from './smallest-clusters';
import type { StepsOutside } from './steps-outside';
import { type PlanFigures, type TaskResult, TOLERANCE } from './plan-task';

/** The estimate and the measurement of a split. */
export interface SplitResult {
  readonly name: string;
  readonly split: Candidate;
  /** Requests per second that rate matching expects. */
  readonly estimatedRate: number;
  /** Undefined: it was not simulated. */
  readonly measured: TaskResult | undefined;
  /** Why it was not simulated, as a clause. */
  readonly whyNot?: string | undefined;
  /** Goodput in each window, requests per second. Unset: it was not tried in windows. */
  readonly windows?: readonly number[] | undefined;
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

export type Kind = keyof Contenders;
export const KINDS: readonly Kind[] = ['disaggregated', 'aggregated'];

/**
 * Goodput of the contenders under an assumption, in requests per second; undefined where there is
 * none.
 */
export interface SensitivityRow {
  readonly assumption: Assumption;
  readonly goodput: Readonly<Record<Kind, number | undefined>>;
  /** Dollars per million output tokens at that rate. Undefined without prices. */
  readonly usdPerMillionTokens: Readonly<Record<Kind, number | undefined>>;
  /** Steps outside of the measured range at that rate. Undefined: none. */
  readonly outside?: Readonly<Record<Kind, readonly StepsOutside[] | undefined>>;
}

/** Goodput of a contender with other settings, in requests per second. */
export interface SettingRow {
  readonly kind: Kind;
  /**
   * `default`: one setting as configured. `other`: the settings that both kinds have, as the other
   * contender has them.
   */
  readonly change: 'default' | 'other';
  readonly split: Candidate;
  /** The option that is set back; unset for `other`. */
  readonly key?: string;
  readonly goodput: number;
}

export interface PlanResult {
  readonly splits: readonly SplitResult[];
  /** The results that can be compared. */
  readonly rivals: readonly SplitResult[];
  readonly winner: SplitResult;
  readonly contenders: Contenders;
  /** The best split of each kind with the settings of the configuration. */
  readonly atDefaults: Contenders;
  readonly settings: readonly SettingRow[];
  readonly frontier: readonly FrontierPoint[];
  /** The smallest clusters for the load of the workload. Empty: it names no rate. */
  readonly answers: readonly LoadAnswer[];
  /** Why a split lost. Undefined without a question, or when the time was over. */
  readonly explanation: Explanation | undefined;
  readonly sensitivity: readonly SensitivityRow[];
  readonly simulations: number;
  /** Stages that the time budget cut short: tasks done of those planned. */
  readonly cut: readonly CutStage[];
}

export interface CutStage {
  readonly stage: string;
  readonly done: number;
  readonly planned: number;
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
 * The splits that can be compared: those that served the most requests. A split that refuses the
 * longest prompts has less work than the splits that serve them, and one that left the search early
 * was tried on a sample. Only splits that keep the target show how many requests must be refused.
 */
export function comparable(results: readonly SplitResult[]): SplitResult[] {
  const serving = results.filter((result) => goodputOf(result) > 0);
  const most = Math.max(...serving.map(requestsOf));
  const whole = serving.filter((result) => requestsOf(result) === most);
  const fewest = Math.min(...whole.map(refusedBy));
  return results.filter((result) => requestsOf(result) === most && refusedBy(result) <= fewest);
}

function requestsOf({ measured }: SplitResult): number {
  return measured?.requests ?? 0;
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

export function preferred(goodput: Readonly<Record<Kind, number>>): Preferred {
  const { disaggregated, aggregated } = goodput;
  if (Math.abs(disaggregated - aggregated) <= TOLERANCE * Math.max(disaggregated, aggregated)) {
    return 'equal';
  }
  return disaggregated > aggregated ? 'disaggregated' : 'aggregated';
}
