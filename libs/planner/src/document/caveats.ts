import { msToUs, usToSeconds } from '@baton/kernel';
import { missesAllowed } from '../candidates/trial';
import { type PlanResult, refusedBy } from '../candidates/split-result';
import { formatNumber, formatSeconds } from '@baton/report';
import type { PreparedPlan } from '../prepare-plan';

/** With fewer misses than this, attainment depends on chance. */
const FEW_MISSES = 10;
/**
 * Minimum length of a run, in times of the longest request. A shorter run hides a queue that grows.
 */
const SPANS_PER_RUN = 20;

/** Reasons why the result is less certain than it looks, as sentences. */
export function caveats({ context }: PreparedPlan, result: PlanResult): string[] {
  const { workload, target } = context;
  const { winner, splits, rivals, cut } = result;
  const caveat = (isTrue: boolean, sentence: string): string[] => (isTrue ? [sentence] : []);
  const misses = missesAllowed(target.attainment, workload.count);
  const refused = refusedBy(winner);
  const { ttft = 0, e2el = 0 } = target.slo;
  const runSeconds = workload.count / (winner.measured?.rate ?? 1);
  const takenUs = msToUs(winner.measured?.figures?.e2el_ms.p50 ?? 0);
  const spanSeconds = usToSeconds(Math.max(ttft, e2el, takenUs));
  return [
    ...cut.map(({ stage, done, planned }) => {
      return (
        `The time budget ended the stage '${stage}' after ${done} of ${planned} trials; a search ` +
        'without --budget may find better settings.'
      );
    }),
    ...caveat(
      misses < FEW_MISSES && target.attainment < 1,
      `Only ${misses} of ${workload.count} requests may miss. Use more requests for a firm rate.`,
    ),
    ...caveat(
      runSeconds < SPANS_PER_RUN * spanSeconds,
      `At the winner's rate all requests arrive within ${formatSeconds(runSeconds)}, too ` +
        'short for a firm result. Use more requests.',
    ),
    ...caveat(
      refused > 0,
      `The winner refuses ${formatNumber(refused)} of ${formatNumber(workload.count)} ` +
        'requests, which can never fit; they count as missed.',
    ),
    ...caveat(
      splits.some((one) => refusedBy(one) > 0 && !rivals.includes(one)),
      'Splits that refuse long prompts of other splits are not compared, because their load is ' +
        'lighter.',
    ),
  ];
}
