import { type Coverage, type ErrorPoint, systemClassOf } from '@baton/calibration';
import { requestMs, type ServingResult } from '../serving/serving-run';

/**
 * TTFT, TPOT and request latencies of each run of the scoreboard, as `baton replay` reports them.
 */
export function errorPoints(results: readonly ServingResult[]): ErrorPoint[] {
  const sound = results.filter(({ point }) => !point.isDoubtful);
  return sound.filter(({ method }) => method === 'composed').flatMap(pointsOf);
}

function pointsOf(result: ServingResult): ErrorPoint[] {
  const { point, tpotMs, ttftMs } = result;
  const ratios = [
    ['ttft', point.ttftMs / ttftMs],
    ['tpot', point.tpotMs / tpotMs],
    ['e2el', requestMs(point, point) / requestMs(point, result)],
  ] as const;
  const common = {
    group: point.group,
    system: systemClassOf(point.system),
    load: point.concurrency / point.engines.count,
  };
  return ratios
    .filter(([, ratio]) => ratio > 0 && Number.isFinite(ratio))
    .map(([figure, ratio]) => ({ ...common, figure, ratio }));
}

/** Coverage as a Markdown table, whole cells first and groups after them. */
export function coverageTable(coverage: readonly Coverage[]): string {
  const rows = [...coverage].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  const lines = rows.map(({ name, points, held }) => {
    return `| ${name} | ${points} | ${(100 * held).toFixed(0)} % |`;
  });
  return ['| left out | points | held by 80 % intervals |', '| --- | --- | --- |', ...lines].join(
    '\n',
  );
}

function rank({ name }: Coverage): number {
  if (name === 'all') return 0;
  if (name.startsWith('all ')) return 1;
  return name.includes(': ') ? 3 : 2;
}
