import { unreachable } from '@baton/kernel';
import type { EngineOptions } from '../port/engine-options';
import type { SchedulingPolicy } from '../port/scheduling-policy';

export type SchedulingOptions = Pick<EngineOptions, 'schedulingPolicy' | 'sjfAgingTokensPerSecond'>;

/** vLLM's `fcfs`: by submission; a preempted sequence comes before all that were never admitted. */
const FCFS: SchedulingPolicy = { key: ({ order }) => order, resumesFirst: true };

/** vLLM's `priority`: the lower number, then the earlier arrival. */
const PRIORITY: SchedulingPolicy = {
  key: ({ priority }) => priority,
  tieKey: ({ arrivalUs }) => arrivalUs,
  preemptsLast: true,
};

/** The policy of these options: a built-in one by its name, or the given one. */
export function buildScheduling(options: SchedulingOptions): SchedulingPolicy {
  const { schedulingPolicy, sjfAgingTokensPerSecond = 0 } = options;
  if (typeof schedulingPolicy !== 'string') return schedulingPolicy;
  switch (schedulingPolicy) {
    case 'fcfs':
      return FCFS;
    case 'priority':
      return PRIORITY;
    case 'sjf':
      return shortestFirst(sjfAgingTokensPerSecond / 1e6);
    default:
      return unreachable(schedulingPolicy);
  }
}

/**
 * Not in vLLM: the fewest tokens to compute first. Waiting shortens every sequence by the same
 * tokens per µs, so the difference between two follows from their tokens and arrivals and never
 * changes. The prefix cache does not count, because its content changes.
 */
function shortestFirst(agingTokensPerUs: number): SchedulingPolicy {
  return {
    key: ({ targetTokens, computed, arrivalUs }) =>
      targetTokens - computed + agingTokensPerUs * arrivalUs,
  };
}
