import { median } from '@baton/kernel';
import type { ServingResult } from './serving-run';

/** One line of the scoreboard: errors of a group in percent of the measured figures. */
export interface Score {
  readonly group: string;
  readonly count: number;
  readonly method: string;
  readonly tpotMedian: number;
  readonly tpotMeanAbsolute: number;
  readonly ttftMedianAbsolute: number;
  /** Points with at most four clients; undefined: no such point. */
  readonly ttftMedianAlone: number | undefined;
}

const ALONE = 4;

/** Errors by group, and of all points. */
export function scoresOf(results: readonly ServingResult[]): Score[] {
  const groups = [...new Set(results.map(({ point }) => point.group))].sort();
  return groups.map((group) =>
    scoreOf(
      group,
      results.filter(({ point }) => point.group === group),
    ),
  );
}

export function scoreOf(group: string, results: readonly ServingResult[]): Score {
  const tpot = results.map(tpotError);
  const alone = results.filter(({ point }) => point.concurrency <= ALONE);
  return {
    ...{ group, count: results.length },
    method: [...new Set(results.map(({ method }) => method))].join(', '),
    tpotMedian: median(tpot),
    tpotMeanAbsolute: tpot.reduce((sum, error) => sum + Math.abs(error), 0) / tpot.length,
    ttftMedianAbsolute: median(results.map((result) => Math.abs(ttftError(result)))),
    ttftMedianAlone: alone.length === 0 ? undefined : median(alone.map(ttftError)),
  };
}

export function tpotError({ tpotMs, point }: ServingResult): number {
  return 100 * (tpotMs / point.tpotMs - 1);
}

export function ttftError({ ttftMs, point }: ServingResult): number {
  return 100 * (ttftMs / point.ttftMs - 1);
}

/** The scoreboard as a Markdown table. */
export function scoreboard(scores: readonly Score[]): string {
  const head =
    '| group | points | step times | TPOT median | TPOT mean abs | TTFT median abs | ' +
    'TTFT median, <= 4 clients |';
  const rows = scores.map((score) => {
    const { group, count, method, ttftMedianAlone } = score;
    const alone = ttftMedianAlone === undefined ? '' : percent(ttftMedianAlone);
    const tpot = `${percent(score.tpotMedian)} | ${score.tpotMeanAbsolute.toFixed(1)} %`;
    const ttft = `${score.ttftMedianAbsolute.toFixed(1)} %`;
    return `| ${group} | ${count} | ${method} | ${tpot} | ${ttft} | ${alone} |`;
  });
  return [head, '| --- | --- | --- | --- | --- | --- | --- |', ...rows].join('\n');
}

/** Every point in CSV. */
export function servingPointsCsv(results: readonly ServingResult[]): string {
  const head =
    'row,group,tp,concurrency,isl,osl,method,tpot_ms,tpot_baton_ms,tpot_error_percent,' +
    'ttft_ms,ttft_baton_ms,ttft_error_percent';
  const rows = results.map((result) => {
    const { point, method } = result;
    const shape = [
      point.engines.placement.tp,
      point.concurrency,
      point.promptTokens,
      point.outputTokens,
    ];
    const tpot = [point.tpotMs, result.tpotMs.toFixed(3), tpotError(result).toFixed(1)];
    const ttft = [point.ttftMs, result.ttftMs.toFixed(1), ttftError(result).toFixed(1)];
    return [point.row, point.group, ...shape, method, ...tpot, ...ttft].join(',');
  });
  return `${[head, ...rows].join('\n')}\n`;
}

/** With its sign. */
export function percent(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)} %`;
}
