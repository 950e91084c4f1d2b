import { type Candidate, isAggregated } from './candidates';

/** What a plan takes for granted and a user may doubt, changed in one way; plain data. */
export interface Assumption {
  readonly name: string;
  /** On the rate of the link between engines. */
  readonly linkFactor?: number;
  /** On the overhead of each step. */
  readonly overheadFactor?: number;
  /** Factor on decode attention in steps that also prefill. */
  readonly mixedDecodeFactor?: number;
  /**
   * On the token budget of aggregated engines: smaller chunks of prompts hold decodes up for less
   * long.
   */
  readonly aggregatedBudgetFactor?: number;
}

export const AS_CONFIGURED: Assumption = { name: 'as configured' };

/** Whether the assumption can change anything for a split. */
export function concerns(assumption: Assumption, split: Candidate): boolean {
  return isAggregated(split)
    ? assumption.linkFactor === undefined
    : assumption.aggregatedBudgetFactor === undefined;
}
