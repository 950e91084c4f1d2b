import { median } from '@baton/kernel';
import { requestMs, type ServingResult } from './serving-run';

/** One line of the scoreboard: errors of a group in percent of the measured figures. */
export interface Score {
  readonly group: string;
  readonly count: number;
  readonly method: string;
  readonly tpotMedian: number;
  readonly tpotMeanAbsolute: number;
  readonly throughputMedian: number;
  readonly throughputMeanAbsolute: number;
  readonly ttftMedianAbsolute: number;
  /** Points with at most four clients; undefined: no such point. */
  readonly ttftMedianAlone: number | undefined;
  /** The point with the largest error in TPOT. */
  readonly worst: ServingResult;
}

/** The largest error of a figure that meets the aim, in percent. */
export interface Aim {
  readonly figure:
    | 'tpotMedian'
    | 'tpotMeanAbsolute'
    | 'throughputMedian'
    | 'throughputMeanAbsolute'
    | 'ttftMedianAlone';
  readonly percent: number;
}

/** A line of the scoreboard and what it aims at. */
export interface BoardLine {
  readonly score: Score;
  readonly aims: readonly Aim[];
}

const NAMES: Readonly<Record<Aim['figure'], string>> = {
  tpotMedian: 'TPOT median',
  tpotMeanAbsolute: 'TPOT mean',
  throughputMedian: 'throughput median',
  throughputMeanAbsolute: 'throughput mean',
  ttftMedianAlone: 'TTFT',
};

const ALONE = 4;

/** Errors by group, in the order of their names. */
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
  const throughput = results.filter(({ point }) => point.ttftMs > 0).map(throughputError);
  const alone = results.filter(({ point }) => point.concurrency <= ALONE);
  const farther = (a: ServingResult, b: ServingResult) =>
    Math.abs(tpotError(b)) > Math.abs(tpotError(a)) ? b : a;
  return {
    group,
    count: results.length,
    method: [...new Set(results.map(({ method }) => method))].join(', '),
    tpotMedian: median(tpot),
    tpotMeanAbsolute: meanAbsolute(tpot),
    throughputMedian: median(throughput),
    throughputMeanAbsolute: meanAbsolute(throughput),
    ttftMedianAbsolute: median(results.map((result) => Math.abs(ttftError(result)))),
    ttftMedianAlone: alone.length === 0 ? undefined : median(alone.map(ttftError)),
    worst: results.reduce(farther),
  };
}

function meanAbsolute(errors: readonly number[]): number {
  return errors.reduce((sum, error) => sum + Math.abs(error), 0) / errors.length;
}

/** Whether a figure meets its aim; undefined: the group has no such figure. */
export function isMet(score: Score, { figure, percent: most }: Aim): boolean | undefined {
  const value = score[figure];
  return value === undefined ? undefined : Math.abs(value) <= most;
}

export function tpotError({ tpotMs, point }: ServingResult): number {
  return 100 * (tpotMs / point.tpotMs - 1);
}

export function ttftError({ ttftMs, point }: ServingResult): number {
  return 100 * (ttftMs / point.ttftMs - 1);
}

/** Requests per second of a closed loop: its clients over the time of a mean request. */
export function throughputError(result: ServingResult): number {
  const { point } = result;
  return 100 * (requestMs(point, point) / requestMs(point, result) - 1);
}

/** The scoreboard as a Markdown table. */
export function scoreboard(lines: readonly BoardLine[]): string {
  const head = [
    ...['group', 'points', 'step times', 'TPOT median', 'TPOT mean abs', 'TPOT worst'],
    ...['throughput median', 'throughput mean abs'],
    ...['TTFT median abs', 'TTFT median, <= 4 clients', 'aim'],
  ];
  const rows = lines.map(cellsOf);
  const ruler = head.map(() => '---');
  return [head, ruler, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellsOf({ score, aims }: BoardLine): string[] {
  const { group, count, method, worst, ttftMedianAlone } = score;
  return [
    ...[group, String(count), method],
    percent(score.tpotMedian),
    `${score.tpotMeanAbsolute.toFixed(1)} %`,
    `${percent(tpotError(worst))} (${worst.point.concurrency} clients, ${worst.point.row})`,
    percent(score.throughputMedian),
    `${score.throughputMeanAbsolute.toFixed(1)} %`,
    `${score.ttftMedianAbsolute.toFixed(1)} %`,
    ttftMedianAlone === undefined ? '' : percent(ttftMedianAlone),
    aims.map((aim) => verdictOf(score, aim)).join(', '),
  ];
}

function verdictOf(score: Score, aim: Aim): string {
  const met = isMet(score, aim);
  if (met === undefined) return `${NAMES[aim.figure]} ${aim.percent} %: no point`;
  return `${NAMES[aim.figure]} ${aim.percent} % ${met ? 'met' : '**missed**'}`;
}

/** Every point in CSV. */
export function servingPointsCsv(results: readonly ServingResult[]): string {
  const head =
    'row,group,tp,concurrency,isl,osl,method,tpot_ms,tpot_baton_ms,tpot_error_percent,' +
    'ttft_ms,ttft_baton_ms,ttft_error_percent,throughput_error_percent';
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
    const cells = [point.row, point.group, ...shape, method, ...tpot, ...ttft];
    return [...cells, throughputError(result).toFixed(1)].join(',');
  });
  return `${[head, ...rows].join('\n')}\n`;
}

/** With its sign. */
export function percent(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)} %`;
}
