import { type Distribution, formatSlo, type Slo } from '@baton/analysis';
import { Failure, msToUs } from '@baton/kernel';
import { candidateName } from '@baton/planner';
import { formatMs, formatShare } from '@baton/report';
import { AS_CONFIGURED } from './assumption';
import type { PreparedPlan } from './prepare-plan';
import type { PlanFigures, TaskResult, PlanTask } from './task';

/**
 * What to say when no split keeps the target at any rate: which comes nearest when hardly anything
 * is asked of it, and how it fares.
 */
export async function nothingKept(
  { candidates, context }: PreparedPlan,
  run: (tasks: readonly PlanTask[]) => Promise<TaskResult[]>,
  most: number,
): Promise<Failure> {
  const ableFirst = [...candidates].sort((a, b) => b.idleRate - a.idleRate).slice(0, most);
  const able = ableFirst.filter(({ idleRate }) => idleRate > 0);
  if (able.length === 0)
    return new Failure('No engine has KV blocks for a request of mean length.');
  const measured = await run(
    able.map(({ candidate, idleRate }): PlanTask => {
      return { kind: 'measure', split: candidate, assumption: AS_CONFIGURED, rate: idleRate };
    }),
  );
  const { slo, attainment: target } = context.target;
  const best = measured.reduce((top, { figures }, i) => {
    return isNearer(figures, measured[top]?.figures, slo) ? i : top;
  }, 0);
  return new Failure(
    `No split keeps ${formatSlo(slo)} for ${formatShare(target)} of the requests, even when it is all but idle. ` +
      `The nearest miss is ${candidateName(able[best]!.candidate)}: ${told(measured[best]?.figures)}.`,
  );
}

function isNearer(a: PlanFigures | undefined, b: PlanFigures | undefined, slo: Slo): boolean {
  const ahead = attainment(a) - attainment(b);
  return ahead > 0 || (ahead === 0 && excess(a, slo) < excess(b, slo));
}

/** How many times the worst objective is exceeded by one request in ten. */
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

function told(figures: PlanFigures | undefined): string {
  if (figures === undefined) return 'nothing was measured';
  const { ttft_ms: ttft, tpot_ms: tpot, refused, requests } = figures;
  const never = refused === 0 ? '' : `; ${refused} of ${requests} requests can never fit an engine`;
  return (
    `${formatShare(attainment(figures))} with TTFT p50 ${formatMs(ttft.p50)}, p90 ${formatMs(ttft.p90)}, ` +
    `TPOT p50 ${formatMs(tpot.p50)}, p90 ${formatMs(tpot.p90)}${never}`
  );
}
