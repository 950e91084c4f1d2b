import type { CostRates } from '@baton/analysis';
import type { EngineRole } from '@baton/policies';
import { type Candidate, isAggregated, type Settings } from './candidates';

/** One assumption of a plan with a changed value; plain data. */
export interface Assumption {
  readonly name: string;
  /** What it changes. Assumptions that change the same are the ends of one bar. */
  readonly variable?: string;
  /** Factor on the rate of the link between engines. */
  readonly linkFactor?: number;
  /** Factor on the overhead of each step. */
  readonly overheadFactor?: number;
  /** Factor on decode attention in steps that also prefill. */
  readonly mixedDecodeFactor?: number;
  /** Factors on the lengths of prompts and outputs. */
  readonly promptFactor?: number;
  readonly outputFactor?: number;
  /** Tokens at the beginning of every prompt that all requests have in common. */
  readonly sharedPrefixTokens?: number;
  /** The role that has one engine less. */
  readonly lost?: EngineRole;
  /** Options in place of those of the configuration and the split. */
  readonly options?: Settings;
  /** Prices and watts of another GPU. */
  readonly rates?: CostRates | undefined;
}

export const AS_CONFIGURED: Assumption = { name: 'as configured' };

/** Whether the assumption can change anything for a split. */
export function concerns(assumption: Assumption, split: Candidate): boolean {
  const { linkFactor, lost } = assumption;
  if (lost !== undefined) return split.topology[lost] > 1;
  return !isAggregated(split) || linkFactor === undefined;
}
