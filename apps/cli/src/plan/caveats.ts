import { usToSeconds } from '@baton/kernel';
import { missesAllowed } from '@baton/planner';
import { formatNumber, formatSeconds } from '@baton/report';
import type { PreparedPlan } from './prepare-plan';
import { type PlanResult, rateOf, refusedBy } from './split-result';

/** Fewer misses than this make attainment a matter of luck. */
const FEW_MISSES = 10;
/** A run that is shorter than so many times its longest objective hides a queue that grows. */
const OBJECTIVES_PER_RUN = 20;

/** What makes the result less certain than it looks, in sentences. */
export function caveats({ context }: PreparedPlan, result: PlanResult): string[] {
  const { workload, target } = context;
  const { winner, splits, rivals } = result;
  const caveat = (isTrue: boolean, sentence: string): string[] => (isTrue ? [sentence] : []);
  const misses = missesAllowed(target.attainment, workload.count);
  const refused = refusedBy(winner);
  const { ttft = 0, e2el = 0 } = target.slo;
  const runSeconds = workload.count / rateOf(winner);
  return [
    ...caveat(
      misses < FEW_MISSES && target.attainment < 1,
      `Only ${misses} of ${workload.count} requests may miss: give more requests for a firm rate.`,
    ),
    ...caveat(
      runSeconds < OBJECTIVES_PER_RUN * usToSeconds(Math.max(ttft, e2el)),
      `At the winner's rate all requests arrive within ${formatSeconds(runSeconds)}, in which a queue can hide: give more requests.`,
    ),
    ...caveat(
      refused > 0,
      `The winner refuses ${formatNumber(refused)} of ${formatNumber(workload.count)} requests, which can never fit; they count as missed.`,
    ),
    ...caveat(
      rivals.length < splits.length,
      'Splits that refuse long prompts which others serve are not compared: the rest is easier without them.',
    ),
  ];
}
