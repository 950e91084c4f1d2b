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

/** Whole units that a budget still has. @param debtUs time until it is full */
export function unitsLeft(limit: number, debtUs: number): number {
  const missing = Math.ceil((debtUs - SLACK_US) / unitUs(limit));
  return Math.max(0, limit - Math.max(0, missing));
}
