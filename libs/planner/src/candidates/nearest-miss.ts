import type { Distribution, Slo } from '@baton/analysis';
import { Failure, msToUs } from '@baton/kernel';
import type { Candidate } from './candidates';
import type { PlanFigures, TaskResult } from './plan-task';
import type { PlanCandidate, PlanQuestion } from './search-splits';

/** No split keeps the target at any rate. */
export class NothingKept extends Error {
  override readonly name = 'NothingKept';

  /** @param figures of the nearest miss at a very low load; undefined when nothing was measured */
  constructor(
    readonly nearest: Candidate,
    readonly figures: PlanFigures | undefined,
  ) {
    super('no split keeps the target at any rate');
  }
}

/** The split that comes closest at a very low rate, and its figures. */
export async function nearestMiss(
  { candidates, target, mostSimulated }: PlanQuestion,
  measure: (able: readonly PlanCandidate[]) => Promise<readonly (TaskResult | undefined)[]>,
): Promise<NothingKept | Failure> {
  const ableFirst = [...candidates].sort((a, b) => b.idleRate - a.idleRate).slice(0, mostSimulated);
  const able = ableFirst.filter(({ idleRate }) => idleRate > 0);
  if (able.length === 0)
    return new Failure('No engine has KV blocks for a request of mean length.');
  const measured = await measure(able);
  const best = measured.reduce<number>((top, result, i) => {
    return isNearer(result?.figures, measured[top]?.figures, target.slo) ? i : top;
  }, 0);
  return new NothingKept(able[best]!.candidate, measured[best]?.figures);
}

function isNearer(a: PlanFigures | undefined, b: PlanFigures | undefined, slo: Slo): boolean {
  const ahead = attainment(a) - attainment(b);
  return ahead > 0 || (ahead === 0 && excess(a, slo) < excess(b, slo));
}

/** The factor by which one request in ten exceeds the worst objective. */
function excess(figures: PlanFigures | undefined, slo: Slo): number {
  const { ttft, tpot, itl, e2el } = slo;
  const times = (latency: Distribution | undefined, boundUs = Infinity): number => {
    return msToUs(latency?.p90 ?? Infinity) / boundUs;
  };
  return Math.max(
    times(figures?.ttft_ms, ttft),
    times(figures?.tpot_ms, Math.min(tpot ?? Infinity, itl ?? Infinity)),
    times(figures?.e2el_ms, e2el),
  );
}

function attainment(figures: PlanFigures | undefined): number {
  return figures?.slo_attainment ?? 0;
}
