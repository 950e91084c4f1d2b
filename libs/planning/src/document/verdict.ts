import { goodputOf, isAggregated, type PlanResult, TOLERANCE } from '@baton/planner';
import { formatNumber, formatShare } from '@baton/report';

/** The winner, and by how much it is ahead of the other kind, in a sentence or two. */
export function verdict({ winner, contenders }: PlanResult): string {
  const isOver = isAggregated(winner.split);
  const own = isOver ? 'aggregated' : 'disaggregated';
  const other = isOver ? 'disaggregated' : 'aggregated';
  const rival = contenders[other];
  const kept = `${winner.name} (${own}) keeps ${formatNumber(goodputOf(winner))} requests/s`;
  if (rival === undefined) return `${kept}; there is no ${other} split to compare it with.`;
  if (goodputOf(rival) === 0) return `${kept}; no ${other} split keeps the target at any rate.`;
  const than =
    `${rival.name}, the best ${other} split (${formatNumber(goodputOf(rival))} ` + 'requests/s)';
  const margin = goodputOf(winner) / goodputOf(rival) - 1;
  if (margin <= TOLERANCE) {
    return `${kept}, no more than the search can tell apart from ${than}.`;
  }
  const sentence = `${kept}, ${formatShare(margin)} more than ${than}.`;
  return isOver ? `${sentence} ${NO_THROUGHPUT}` : sentence;
}

/** vLLM, docs/features/disagg_prefill.md: disaggregated prefill "does not improve throughput". */
const NO_THROUGHPUT =
  'Disaggregation lets TTFT and TPOT be tuned apart and shortens the tail of ITL; ' +
  'throughput it does not add.';
