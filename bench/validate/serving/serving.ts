import { scoreboard, scoreOf, scoresOf } from './scoreboard';
import { servingPoints } from './serving-point';
import { runPoint, type ServingResult } from './serving-run';

/** Published serving points, blind: no constant was fitted to any of them. */
export interface ServingReport {
  readonly results: readonly ServingResult[];
  /** Markdown: all, by framework, by group, and what is left out. */
  readonly text: string;
}

/** Systems of racks, whose wide expert parallelism is expected to be off. */
const RACKS = new Set(['gb200', 'gb300']);

/** @param every  takes every so manieth point only; 1: all */
export function servingReport(every = 1): ServingReport {
  const { points, leftOut } = servingPoints();
  const results: ServingResult[] = [];
  const why = new Map(leftOut);
  points.forEach((point, i) => {
    if (i % every !== 0) return;
    const result = runPoint(point);
    if (typeof result === 'string') why.set(result, (why.get(result) ?? 0) + 1);
    else results.push(result);
  });
  const own = results.filter(({ point }) => !RACKS.has(point.system));
  const vllm = own.filter(({ point }) => point.framework === 'vllm');
  const heads = [
    scoreOf('all but GB200 and GB300', own),
    scoreOf('of these vLLM', vllm),
    ...(own.length < results.length ? [scoreOf('all', results)] : []),
  ];
  const rest = [...why].map(([reason, count]) => `* ${count} rows: ${reason}`).join('\n');
  const text = `${scoreboard(heads)}\n\n${scoreboard(scoresOf(results))}\n\nLeft out:\n\n${rest}\n`;
  return { results, text };
}
