import { formatSlo } from '@baton/analysis';
import { Failure } from '@baton/kernel';
import { candidateName } from '../candidates/candidates';
import { type NothingKept } from '../candidates/nearest-miss';
import { type PlanFigures } from '../candidates/plan-task';
import { type SloTarget } from '../candidates/trial';
import { formatMs, formatShare } from '@baton/report';

/** The error text when no split keeps the target at any rate. */
export function nothingKept({ nearest, figures }: NothingKept, target: SloTarget): Failure {
  return new Failure(
    `No split keeps ${formatSlo(target.slo)} for ${formatShare(target.attainment)} of the ` +
      `requests${ofClasses(figures)}, even when it is almost idle. ` +
      `The nearest miss is ${candidateName(nearest)}: ${figuresText(figures)}.`,
  );
}

function ofClasses(figures: PlanFigures | undefined): string {
  return figures?.slo_classes === undefined
    ? ''
    : ', and the targets of each SLO class for as many';
}

function figuresText(figures: PlanFigures | undefined): string {
  if (figures === undefined) return 'nothing was measured';
  const { ttft_ms: ttft, tpot_ms: tpot, refused, requests } = figures;
  const never = refused === 0 ? '' : `; ${refused} of ${requests} requests can never fit an engine`;
  return (
    `${formatShare(figures.slo_attainment ?? 0)} with TTFT p50 ${formatMs(ttft.p50)}, p90 ` +
    `${formatMs(ttft.p90)}, TPOT p50 ${formatMs(tpot.p50)}, p90 ${formatMs(tpot.p90)}${never}`
  );
}
