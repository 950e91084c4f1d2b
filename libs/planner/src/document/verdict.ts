import { apartFactor, isToldApart } from '../candidates/told-apart';
import { goodputOf, type PlanResult, type SplitResult } from '../candidates/split-result';
import { isAggregated } from '../candidates/candidates';
import { TOLERANCE } from '../candidates/plan-task';
import { formatNumber, formatShare } from '@baton/report';

/** The winner and its lead over the other kind, in one or two sentences. */
export function verdict({ winner, contenders }: PlanResult): string {
  const isOver = isAggregated(winner.split);
  const own = isOver ? 'aggregated' : 'disaggregated';
  const other = isOver ? 'disaggregated' : 'aggregated';
  const rival = contenders[other];
  const lead = `${winner.name} (${own}) sustains ${formatNumber(goodputOf(winner))} requests/s`;
  if (rival === undefined) return `${lead}; there is no ${other} split to compare it with.`;
  if (goodputOf(rival) === 0) return `${lead}; no ${other} split meets the target at any rate.`;
  const than =
    `${rival.name}, the best ${other} split (${formatNumber(goodputOf(rival))} ` + 'requests/s)';
  const margin = goodputOf(winner) / goodputOf(rival) - 1;
  if (margin <= TOLERANCE) {
    return `${lead}. The search cannot distinguish that from ${than}.`;
  }
  const sentence = `${lead}, ${formatShare(margin)} more than ${than}.`;
  if (!isToldApart(winner, rival)) return `${sentence} ${notApart(winner, rival)}`;
  return isOver ? `${sentence} ${NO_THROUGHPUT}` : sentence;
}

/** vLLM, docs/features/disagg_prefill.md: disaggregated prefill "does not improve throughput". */
const NO_THROUGHPUT =
  'Disaggregation lets you tune TTFT and TPOT separately and shortens the tail of ITL; ' +
  'it does not add throughput.';

function notApart(winner: SplitResult, rival: SplitResult): string {
  const needed = formatShare(apartFactor(winner, rival) - 1);
  return (
    `The two cannot be told apart: differences below ${needed} are within the error of the ` +
    'step times.'
  );
}

/** Splits of either kind whose goodput cannot be distinguished from the winner's, best first. */
export function likeWinner({ winner, rivals }: PlanResult): SplitResult[] {
  const alike = rivals.filter((one) => {
    return one !== winner && goodputOf(one) > 0 && !isToldApart(winner, one);
  });
  return alike.sort((a, b) => goodputOf(b) - goodputOf(a));
}
