import { msToUs, usToSeconds } from '@baton/kernel';
import { missesAllowed, type PlanResult, refusedBy } from '@baton/planner';
import { formatNumber, formatSeconds } from '@baton/report';
import type { PreparedPlan } from '../prepare-plan';

/** Fewer misses than this make attainment a matter of luck. */
const FEW_MISSES = 10;
/**
 * A run that is shorter than so many times what a request may take, or does take, hides a queue
 * that grows.
 */
const SPANS_PER_RUN = 20;

/** What makes the result less certain than it looks, in sentences. */
export function caveats({ context }: PreparedPlan, result: PlanResult): string[] {
  const { workload, target } = context;
  const { winner, splits, rivals } = result;
  const caveat = (isTrue: boolean, sentence: string): string[] => (isTrue ? [sentence] : []);
  const misses = missesAllowed(target.attainment, workload.count);
  const refused = refusedBy(winner);
  const { ttft = 0, e2el = 0 } = target.slo;
  const runSeconds = workload.count / (winner.measured?.rate ?? 1);
  const takenUs = msToUs(winner.measured?.figures?.e2el_ms.p50 ?? 0);
  const spanSeconds = usToSeconds(Math.max(ttft, e2el, takenUs));
  return [
    ...caveat(
      misses < FEW_MISSES && target.attainment < 1,
      `Only ${misses} of ${workload.count} requests may miss: give more requests for a firm rate.`,
    ),
    ...caveat(
      runSeconds < SPANS_PER_RUN * spanSeconds,
      `At the winner's rate all requests arrive within ${formatSeconds(runSeconds)}, too ` +
        'short for a firm result: give more requests.',
    ),
    ...caveat(
      refused > 0,
      `The winner refuses ${formatNumber(refused)} of ${formatNumber(workload.count)} ` +
        'requests, which can never fit; they count as missed.',
    ),
    ...caveat(
      rivals.length < splits.length,
      'Splits that refuse long prompts which others serve are not compared: the rest is ' +
        'easier without them.',
    ),
  ];
}
