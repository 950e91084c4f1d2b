import type { BudgetAnswer, BudgetState, BudgetTake } from './port/rates';

const MINUTE_US = 60_000_000;
/** Rounding of stored instants; no limit is that fine. */
const SLACK_US = 100;

/**
 * A budget is stored as one number: the instant at which it is full again, µs. The amount missing
 * now is the time until then, at `limit` units a minute (the generic cell rate algorithm).
 */
export function unitUs(limit: number): number {
  return MINUTE_US / limit;
}

/** Longest time that budgets may be from full, including each amount. */
export const DEEPEST_US = MINUTE_US + SLACK_US;

/** @param debtsUs time until each budget is full, after the decision */
export function budgetAnswer(
  isTaken: boolean,
  takes: readonly BudgetTake[],
  debtsUs: readonly number[],
): BudgetAnswer {
  const states = takes.map(({ limit }, i) => stateOf(limit, debtsUs[i] ?? 0));
  return { isTaken, states };
}

function stateOf(limit: number, debtUs: number): BudgetState {
  const missing = Math.ceil((debtUs - SLACK_US) / unitUs(limit));
  return {
    remaining: Math.max(0, limit - Math.max(0, missing)),
    fullInMs: Math.ceil(debtUs / 1_000),
  };
}
