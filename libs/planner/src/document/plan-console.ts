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
import { endsCell } from './cell-ends';
import type { PlanDocument, SplitDocument } from './plan-document';

const LATENCY_COLUMNS = ['p50', 'p90', 'p99'] as const;

/** The columns of a table of splits that fit into 100 columns. */
const NARROW = ['split', 'goodput', 'attained', 'TTFT p90', 'TPOT p90', 'busy', 'front'];

/**
 * A plan as text: the winner, every split, the assumptions, and the command to start it.
 *
 * @param isWide  true: every column, at any width
 */
export function planConsole(document: PlanDocument, title: string, isWide = false): string {
  const { command, verdict, winner, front_end: frontEnd, replay_command: replay } = document;
  const width = isWide ? Infinity : CONSOLE_WIDTH;
  return [
    wrapWords(title),
    splitTable(document, width),
    ...(winner.slo_classes ? [classTable(winner.slo_classes)] : []),
    ...costTable(document, width),
    `${wrapWords(verdict)}${wrapWords(intervalNote(document))}`,
    consoleTable(sensitivityColumns(document), sensitivityRows(document), width),
    ...(frontEnd === undefined ? [] : [`front end:     ${frontEndLine(frontEnd)}\n`]),
    `start it:      ${command}\n${replay === null ? '' : `look into it:  ${replay}\n`}`,
  ].join('\n');
}

/**
 * Splits, best first. Then splits that cannot be compared, and at the end those that were not
 * simulated, by their estimates.
 */
export function ranked(splits: readonly SplitDocument[]): SplitDocument[] {
  const group = (split: SplitDocument): number => {
    if (!split.simulated) return 2;
    return split.comparable ? 0 : 1;
  };
  return [...splits].sort(
    (a, b) =>
      group(a) - group(b) ||
      (b.goodput_rps ?? -1) - (a.goodput_rps ?? -1) ||
      (b.estimated_rps ?? 0) - (a.estimated_rps ?? 0),
  );
}

/** The columns of a table of splits. */
export const SPLIT_COLUMNS = [
  'split',
  'estimate',
  'rate',
  'goodput',
  'per GPU',
  'attained',
  ...LATENCY_COLUMNS.map((name) => `TTFT ${name}`),
  ...LATENCY_COLUMNS.map((name) => `TPOT ${name}`),
  'ITL p99',
  'busy',
  'front',
].map((name, i) => ({ name, align: i === 0 ? ('left' as const) : ('right' as const) }));

export function splitRow(split: SplitDocument): string[] {
  const { ttft_ms: ttft, tpot_ms: tpot, itl_ms: itl } = split;
  return [
    split.name,
    formatNumber(split.estimated_rps),
    formatNumber(split.request_rate),
    split.simulated ? formatNumber(split.goodput_rps) : 'not simulated',
    formatNumber(split.goodput_rps_per_gpu),
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

function frontCell({ comparable, on_pareto_front, refused }: SplitDocument): string {
  if (!comparable) return `refuses ${formatNumber(refused)}`;
  return on_pareto_front ? 'yes' : '';
}

/** Figures, and below them their intervals in the same units. */
function splitTable({ splits }: PlanDocument, width: number): string {
  const rows = ranked(splits).flatMap((split) => {
    return split.intervals === null ? [splitRow(split)] : [splitRow(split), splitEnds(split)];
  });
  if (width === Infinity) return consoleTable(SPLIT_COLUMNS, rows, width);
  const shown = SPLIT_COLUMNS.flatMap(({ name }, i) => (NARROW.includes(name) ? [i] : []));
  const pick = <T>(row: readonly T[]): T[] => shown.map((i) => row[i]!);
  const table = consoleTable(pick(SPLIT_COLUMNS), rows.map(pick), width);
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
