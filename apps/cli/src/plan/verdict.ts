import { formatNumber, formatShare } from '@baton/report';
import { isAggregated } from '@baton/planner';
import { type Contenders, goodputOf, type PlanResult } from './split-result';
import { TOLERANCE } from './task';

/**
 * What a comparison of both kinds comes to. Goodputs closer than the search tells apart are equal.
 */
export type Preferred = 'disaggregated' | 'aggregated' | 'equal';

export function preferred(goodput: Readonly<Record<keyof Contenders, number>>): Preferred {
  const { disaggregated, aggregated } = goodput;
  if (Math.abs(disaggregated - aggregated) <= TOLERANCE * Math.max(disaggregated, aggregated)) {
    return 'equal';
  }
  return disaggregated > aggregated ? 'disaggregated' : 'aggregated';
}

/** The winner, and by how much it is ahead of the other kind, in a sentence or two. */
export function verdict({ winner, contenders }: PlanResult): string {
  const isOver = isAggregated(winner.split);
  const own = isOver ? 'aggregated' : 'disaggregated';
  const other = isOver ? 'disaggregated' : 'aggregated';
  const rival = contenders[other];
  const kept = `${winner.name} (${own}) keeps ${formatNumber(goodputOf(winner))} requests/s`;
  if (rival === undefined) return `${kept}; there is no ${other} split to compare it with.`;
  if (goodputOf(rival) === 0) return `${kept}; no ${other} split keeps the target at any rate.`;
  const than = `${rival.name}, the best ${other} split (${formatNumber(goodputOf(rival))} requests/s)`;
  const margin = goodputOf(winner) / goodputOf(rival) - 1;
  if (margin <= TOLERANCE) {
    return `${kept}, no more than the search can tell apart from ${than}.`;
  }
  const sentence = `${kept}, ${formatShare(margin)} more than ${than}.`;
  return isOver ? `${sentence} ${NO_THROUGHPUT}` : sentence;
}

/** vLLM, docs/features/disagg_prefill.md: disaggregated prefill "does not improve throughput". */
const NO_THROUGHPUT =
  'Disaggregation lets TTFT and TPOT be tuned apart and shortens the tail of ITL; throughput it does not add.';
