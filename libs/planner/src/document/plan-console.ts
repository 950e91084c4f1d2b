import {
  classTable,
  CONSOLE_WIDTH,
  consoleTable,
  formatMs,
  formatMsInterval,
  formatNumber,
  formatShare,
  frontEndLine,
  usd,
  wrapWords,
} from '@baton/report';
import { answersLines } from './answers';
import { endsCell } from './cell-ends';
import { explanationText } from './explanation';
import { extrapolationLines } from './extrapolations';
import { whatIfTable } from './tornado';
import type { PlanDocument, SplitDocument } from './plan-document';

const LATENCY_COLUMNS = ['p50', 'p90', 'p99'] as const;

/** The columns of a table of splits that fit into 100 columns. */
const NARROW = ['split', 'goodput', 'in windows', 'TTFT p90', 'TPOT p90', 'front'];

/**
 * A plan as text: the winner, every split, the assumptions, and the command to start it.
 *
 * @param isWide  true: every column, at any width
 */
export function planConsole(document: PlanDocument, title: string, isWide = false): string {
  const {
    command,
    headline,
    verdict,
    winner,
    front_end: frontEnd,
    replay_command: replay,
  } = document;
  const width = isWide ? Infinity : CONSOLE_WIDTH;
  return [
    wrapWords(title),
    wrapWords([`${headline}.`, verdict, ...document.doubts].join(' ')),
    answersLines(document)
      .map((line) => wrapWords(line))
      .join(''),
    splitTable(document, width),
    ...explanationText(document.explanation, width),
    ...notSimulated(document).map((line) => wrapWords(line)),
    ...(winner.slo_classes ? [classTable(winner.slo_classes)] : []),
    ...costTable(document, width),
    wrapWords(intervalNote(document)),
    ...(document.settings.length === 0
      ? []
      : [consoleTable(SETTING_COLUMNS, settingRows(document), width)]),
    consoleTable(sensitivityColumns(document), sensitivityRows(document), width),
    ...whatIfTable(document, width),
    ...extrapolated(document),
    ...(frontEnd === undefined ? [] : [`front end:     ${frontEndLine(frontEnd)}\n`]),
    `start it:      ${command}\n${replay === null ? '' : `look into it:  ${replay}\n`}`,
  ].join('\n');
}

function extrapolated({ extrapolations }: PlanDocument): string[] {
  const lines = extrapolationLines(extrapolations).map((line) => wrapWords(line));
  return lines.length === 0 ? [] : [lines.join('')];
}

/** Simulated splits, best first, then those that cannot be compared. */
export function ranked(splits: readonly SplitDocument[]): SplitDocument[] {
  const group = (split: SplitDocument): number => (split.comparable ? 0 : 1);
  return splits
    .filter(({ simulated }) => simulated)
    .sort(
      (a, b) =>
        group(a) - group(b) ||
        (b.requests ?? 0) - (a.requests ?? 0) ||
        (b.goodput_rps ?? -1) - (a.goodput_rps ?? -1),
    );
}

/** The splits that were not simulated, with the reason, as sentences. */
export function notSimulated({ splits }: PlanDocument): string[] {
  const reasons = new Map<string, string[]>();
  for (const { name, why_not: reason } of splits) {
    if (reason !== null) reasons.set(reason, [...(reasons.get(reason) ?? []), name]);
  }
  return [...reasons].map(([reason, names]) => `Not simulated, ${reason}: ${names.join(', ')}.`);
}

/** The columns of a table of splits. */
export const SPLIT_COLUMNS = [
  'split',
  'estimate',
  'rate',
  'goodput',
  'per GPU',
  'in windows',
  'attained',
  ...LATENCY_COLUMNS.map((name) => `TTFT ${name}`),
  ...LATENCY_COLUMNS.map((name) => `TPOT ${name}`),
  'ITL p99',
  'in steps',
  'front',
].map((name, i) => ({ name, align: i === 0 ? ('left' as const) : ('right' as const) }));

export function splitRow(split: SplitDocument): string[] {
  const { ttft_ms: ttft, tpot_ms: tpot, itl_ms: itl } = split;
  return [
    split.name,
    formatNumber(split.estimated_rps),
    formatNumber(split.request_rate),
    formatNumber(split.goodput_rps),
    formatNumber(split.goodput_rps_per_gpu),
    windowsCell(split),
    formatShare(split.slo_attainment),
    ...LATENCY_COLUMNS.map((name) => formatMs(ttft?.[name] ?? null)),
    ...LATENCY_COLUMNS.map((name) => formatMs(tpot?.[name] ?? null)),
    formatMs(itl?.p99 ?? null),
    Object.values(split.utilisation)
      .map((share) => formatShare(share))
      .join(', '),
    frontCell(split),
  ];
}

/** The lowest and the highest goodput of the windows. */
function windowsCell({ windows_goodput_rps: windows }: SplitDocument): string {
  if (windows === null) return '';
  const rates = windows.map((rps) => rps ?? 0);
  return `${formatNumber(Math.min(...rates))} to ${formatNumber(Math.max(...rates))}`;
}

function frontCell({ comparable, on_pareto_front, refused, requests }: SplitDocument): string {
  if (!comparable && (refused ?? 0) > 0) return `refuses ${formatNumber(refused)}`;
  if (!comparable) return `on ${formatNumber(requests)} requests`;
  return on_pareto_front ? 'yes' : '';
}

/** Figures, and below those of the whole workload their intervals in the same units. */
/** The cells of a row in the columns of these names. */
export function picked<T>(row: readonly T[], names: readonly string[]): T[] {
  return row.filter((_cell, i) => names.includes(SPLIT_COLUMNS[i]!.name));
}

function splitTable({ splits }: PlanDocument, width: number): string {
  const rows = ranked(splits).flatMap((split) => {
    const hasEnds = split.intervals !== null && split.comparable;
    return hasEnds ? [splitRow(split), splitEnds(split)] : [splitRow(split)];
  });
  if (width === Infinity) return consoleTable(SPLIT_COLUMNS, rows, width);
  const shown = rows.map((row) => picked(row, NARROW));
  const table = consoleTable(picked(SPLIT_COLUMNS, NARROW), shown, width);
  return `${table}More columns: --wide, or --json.\n`;
}

/** The columns of a table of costs. */
export const COST_COLUMNS = [
  ...['split', '$ per hour', '$ per 1M output tokens', '$ per 1,000 requests'],
  ...['mean W', 'J per output token', 'J per request'],
].map((name, i) => ({ name, align: i === 0 ? ('left' as const) : ('right' as const) }));

/** Cost and energy of the splits at their highest rates, the cheapest tokens first. */
export function costRows({ splits }: PlanDocument): string[][] {
  const costs = splits.flatMap(({ name, cost }) => (cost === undefined ? [] : [{ name, cost }]));
  const perTokens = ({ cost }: (typeof costs)[number]): number => {
    return cost.usd_per_million_output_tokens ?? Infinity;
  };
  return costs
    .sort((a, b) => perTokens(a) - perTokens(b))
    .map(({ name, cost }) => [
      ...[name, usd(cost.usd_per_hour), usd(cost.usd_per_million_output_tokens)],
      ...[usd(cost.usd_per_thousand_requests), formatNumber(cost.mean_watts)],
      ...[formatNumber(cost.joules_per_output_token), formatNumber(cost.joules_per_request)],
    ]);
}

function costTable(document: PlanDocument, width: number): string[] {
  const rows = costRows(document);
  return rows.length === 0 ? [] : [consoleTable(COST_COLUMNS, rows, width)];
}

/** The 80 % intervals of a row, empty where a column has none. */
export function splitEnds({ ttft_ms, tpot_ms, itl_ms, intervals }: SplitDocument): string[] {
  const latencies = [
    ...LATENCY_COLUMNS.map((name) => [ttft_ms?.[name], intervals?.ttft_ms[name]] as const),
    ...LATENCY_COLUMNS.map((name) => [tpot_ms?.[name], intervals?.tpot_ms[name]] as const),
    [itl_ms?.p99, intervals?.itl_ms.p99] as const,
  ];
  return [
    ...['', '', ''],
    endsCell(intervals?.goodput_rps),
    endsCell(intervals?.goodput_rps_per_gpu),
    '',
    endsCell(intervals?.slo_attainment, 100),
    ...latencies.map(([ms, ends]) => formatMsInterval(ms ?? null, ends)),
    ...['', ''],
  ];
}

/**
 * The splits whose goodput cannot be distinguished from the winner's, and the meaning of the
 * brackets.
 */
export function intervalNote({ not_told_apart: names, intervals }: PlanDocument): string {
  const level = `In brackets: ${formatShare(intervals.level)} intervals of each split by itself.`;
  if (names.length === 0) return level;
  return `These cannot be told apart from the winner: ${names.join(', ')}. ${level}`;
}

/** The columns of the table of settings. */
export const SETTING_COLUMNS = [
  { name: 'what the settings are worth', align: 'left' as const },
  { name: 'goodput', align: 'right' as const },
  { name: 'change', align: 'right' as const },
];

/** The best split of each kind, with each of its settings as configured. */
export function settingRows(document: PlanDocument): string[][] {
  const best = { disaggregated: document.best_disaggregated, aggregated: document.best_aggregated };
  return document.settings.map(({ kind, option, split, goodput_rps, loss }) => {
    const what =
      option === null
        ? `${split}: the settings of ${best[kind === 'aggregated' ? 'disaggregated' : 'aggregated']}`
        : `${best[kind]} with ${option} as configured`;
    return [what, formatNumber(goodput_rps), formatShare(loss === null ? null : -loss)];
  });
}

/** The columns of a table of assumptions. */
export function sensitivityColumns({ best_disaggregated, best_aggregated }: PlanDocument) {
  const names = [
    'goodput per GPU if',
    best_disaggregated ?? 'no split',
    best_aggregated ?? 'not aggregated',
    'better',
  ];
  return names.map((name, i) => ({
    name,
    align: i === 0 ? ('left' as const) : ('right' as const),
  }));
}

export function sensitivityRows({ sensitivity }: PlanDocument): string[][] {
  return sensitivity.map((row) => [
    row.assumption,
    formatNumber(row.disaggregated_goodput_rps_per_gpu),
    formatNumber(row.aggregated_goodput_rps_per_gpu),
    `${row.better ?? '–'}${row.same_winner === false ? ' (changes)' : ''}`,
  ]);
}
