import type { Framework } from '@baton/step-time';
import { type Score, scoreboard, scoreOf, scoresOf } from './scoreboard';
import { type ServingPoint, servingPoints } from './serving-point';
import { runPoint, type ServingResult } from './serving-run';

/** Published serving points, blind: no constant was fitted to any of them. */
export interface ServingReport {
  readonly results: readonly ServingResult[];
  /** Markdown: all points, by framework, by group, and the points left out. */
  readonly text: string;
}

/** Rack systems. Errors are expected in the estimates of their wide expert parallelism. */
const RACKS = new Set(['gb200', 'gb300']);

export interface ServingChoice {
  /** Takes only every n-th point. Default: all. */
  readonly every?: number | undefined;
  /** Takes points with this text in the name of their group. Default: all. */
  readonly group?: string | undefined;
  /** The framework that provides the kernels. Default: that of the point. */
  readonly framework?: Framework | undefined;
  readonly onProgress?: (done: number, whole: number) => void;
}

export function servingReport(choice: ServingChoice): ServingReport {
  const { every = 1, framework, group = '' } = choice;
  const { points: all, leftOut } = servingPoints();
  const points = all.filter((point) => point.group.includes(group));
  const results: ServingResult[] = [];
  const why = new Map(leftOut);
  points.forEach((point, i) => {
    choice.onProgress?.(i, points.length);
    if (i % every !== 0) return;
    const result = runPoint({ ...point, framework: framework ?? point.framework });
    if (typeof result === 'string') why.set(result, (why.get(result) ?? 0) + 1);
    else results.push(result);
  });
  const sound = results.filter(({ point }) => !point.isDoubtful && !isSplit(point));
  const own = sound.filter(({ point }) => !isRack(point));
  const vllm = own.filter(({ point }) => point.framework === 'vllm');
  const heads = [
    ...(own.length > 0 ? [scoreOf('aggregated, all but GB200 and GB300', own)] : []),
    ...(vllm.length > 0 ? [scoreOf('of these vLLM', vllm)] : []),
    ...scored('doubtful by their own data', results, ({ isDoubtful }) => isDoubtful),
    ...scored('P/D, all but GB200 and GB300', results, (one) => isSplit(one) && !isRack(one)),
    ...scored('P/D, GB200 and GB300', results, (one) => isSplit(one) && isRack(one)),
    scoreOf('all', results),
  ];
  const rest = [...why].map(([reason, count]) => {
    return `* ${count} ${count === 1 ? 'row' : 'rows'}: ${reason}`;
  });
  const boards = [scoreboard(heads), scoreboard(scoresOf(results))].join('\n\n');
  const text = `${boards}\n\nRows that are left out, by reason:\n\n${rest.join('\n')}\n`;
  return { results, text };
}

function isSplit({ disaggregated }: ServingPoint): boolean {
  return disaggregated !== undefined;
}

function isRack({ system }: ServingPoint): boolean {
  return RACKS.has(system);
}

/** One line. Empty when no point is of the kind. */
function scored(
  title: string,
  results: readonly ServingResult[],
  isOf: (point: ServingPoint) => boolean,
): Score[] {
  const found = results.filter(({ point }) => isOf(point));
  return found.length === 0 ? [] : [scoreOf(title, found)];
}
