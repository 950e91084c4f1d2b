import { type Candidate, isAggregated } from './candidates';

/** One assumption of a plan with a changed value; plain data. */
export interface Assumption {
  readonly name: string;
  /** Factor on the rate of the link between engines. */
  readonly linkFactor?: number;
  /** Factor on the overhead of each step. */
  readonly overheadFactor?: number;
  /** Factor on decode attention in steps that also prefill. */
  readonly mixedDecodeFactor?: number;
  /** Factor on the token budget of aggregated engines; smaller prompt chunks delay decodes less. */
  readonly aggregatedBudgetFactor?: number;
}

export const AS_CONFIGURED: Assumption = { name: 'as configured' };

/** Whether the assumption can change anything for a split. */
export function concerns(assumption: Assumption, split: Candidate): boolean {
  return isAggregated(split)
    ? assumption.linkFactor === undefined
    : assumption.aggregatedBudgetFactor === undefined;
}
