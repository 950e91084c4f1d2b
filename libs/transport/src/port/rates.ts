import { unitsLeft } from '@baton/kernel';

/**
 * The amounts that an owner may use in a minute, over all API processes. A budget is as large as
 * its limit and fills evenly: an empty one is full again after a minute. An unused budget is full,
 * and a full one is not stored.
 */
export interface RateBudgets {
  /**
   * Takes an amount from every named budget if each holds that much, else from none: one atomic
   * decision. An amount of 0 only tests, and a budget in debt refuses it.
   */
  take(owner: string, takes: readonly BudgetTake[]): Promise<BudgetAnswer>;
  /** Takes the usage beyond an earlier `take`, into debt if needed; a negative amount refunds. */
  settle(owner: string, take: BudgetTake): Promise<void>;
}

export interface BudgetTake {
  readonly budget: string;
  /** Per minute, at least 1. */
  readonly limit: number;
  readonly amount: number;
}

export interface BudgetAnswer {
  readonly isTaken: boolean;
  /** The current budgets, in the order of the call. */
  readonly states: readonly BudgetState[];
}

export interface BudgetState {
  /** Whole units, 0 for a budget in debt. */
  readonly remaining: number;
  /** Time until it is full, if nothing more is taken. */
  readonly fullInMs: number;
}

/** @param debtsUs time until each budget is full, after the decision */
export function budgetAnswer(
  isTaken: boolean,
  takes: readonly BudgetTake[],
  debtsUs: readonly number[],
): BudgetAnswer {
  const states = takes.map(({ limit }, i) => {
    const debtUs = debtsUs[i] ?? 0;
    return { remaining: unitsLeft(limit, debtUs), fullInMs: Math.ceil(debtUs / 1_000) };
  });
  return { isTaken, states };
}
