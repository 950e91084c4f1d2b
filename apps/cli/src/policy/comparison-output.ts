import { roundTo, type Summary } from '@baton/analysis';
import type * as report from '@baton/report';
import { imbalanceOf } from './imbalance';
import type { KindColumn, PolicyKind } from './policy-kinds';
import type { PolicyOutcome } from './policy-outcome';

const SECONDS_PER_HOUR = 3_600;
const PLOT_COLUMNS = 48;
const GPU_HOURS: KindColumn = 'GPU-hours';
/** Columns for the figure of a bar. */
const FIGURE_COLUMNS = 12;

type Formats = Pick<
  typeof report,
  'CONSOLE_WIDTH' | 'consoleTable' | 'formatMs' | 'formatNumber' | 'formatShare'
>;

/** The rows as one JSON document. */
export function comparisonJson(outcomes: readonly PolicyOutcome[]): string {
  return `${JSON.stringify({ policies: outcomes.map(rowOf) }, null, 2)}\n`;
}

function rowOf({ policy, summary, faults, wallSeconds, ...rest }: PolicyOutcome): object {
  const { ttft_ms, tpot_ms, goodput_rps, slo_attainment, slo_classes, autoscaling } = summary;
  return {
    policy,
    ttft_ms,
    tpot_ms,
    goodput_rps,
    slo_attainment,
    prefix_hit_rate: summary.prefix_hit_rate,
    imbalance: imbalanceOf(summary.engines),
    completed: summary.completed,
    rejected: summary.rejected,
    preemptions: summary.preemptions,
    ...((autoscaling ?? rest.live) && { gpu_hours: virtualGpuHours(summary) }),
    ...(autoscaling && { changes: autoscaling.events.length }),
    policy_faults: faults,
    decisions_per_second: rest.decisionsPerSecond,
    requests_per_wall_second: summary.requests / wallSeconds,
    ...(slo_classes && { slo_classes }),
    ...(rest.live && { live: rest.live }),
  };
}

/**
 * A table and a plot of each clock, and a table by SLO class where the configuration has classes.
 */
export async function comparisonText(
  kind: PolicyKind,
  outcomes: readonly PolicyOutcome[],
): Promise<string> {
  const formats: Formats = await import('@baton/report');
  const isLive = outcomes.some(({ live }) => live !== undefined);
  const columns = isLive ? [...new Set([...kind.columns, GPU_HOURS])] : kind.columns;
  const clock = isLive ? ' on the virtual clock' : '';
  const virtual = outcomes.map(({ policy, summary }) => ({ policy, ms: summary.ttft_ms.mean }));
  const live = outcomes.map((each) => ({ policy: liveName(each), ms: each.live?.ttft_ms ?? null }));
  return [
    ...(isLive ? ['On the virtual clock:\n'] : []),
    virtualTable(columns, outcomes, formats),
    ...(outcomes[0]!.summary.slo_classes ? [classTable(outcomes, formats)] : []),
    plotOf(`TTFT mean${clock}`, virtual, formats),
    ...(isLive
      ? ['On a live cluster, in simulated time:\n', liveTable(kind, outcomes, formats)]
      : []),
    ...(isLive ? [plotOf('TTFT mean on a live cluster', live, formats)] : []),
  ].join('\n');
}

function virtualTable(
  columns: readonly KindColumn[],
  outcomes: readonly PolicyOutcome[],
  formats: Formats,
): string {
  const { consoleTable, formatMs, formatNumber } = formats;
  const names = ['policy', 'TTFT mean', 'TTFT p99', 'TPOT mean', 'goodput/s', ...columns];
  const rows = outcomes.map(({ policy, summary, faults, decisionsPerSecond }) => [
    policy,
    formatMs(summary.ttft_ms.mean),
    formatMs(summary.ttft_ms.p99),
    formatMs(summary.tpot_ms.mean),
    formatNumber(summary.goodput_rps),
    ...columns.map((column) => figureOf(column, summary, formats)),
    String(faults),
    wholeNumber(decisionsPerSecond, formatNumber),
  ]);
  return consoleTable(aligned([...names, 'faults', 'decisions/s']), rows);
}

function figureOf(
  column: KindColumn,
  summary: Summary,
  { formatNumber, formatShare }: Formats,
): string {
  switch (column) {
    case 'in SLO':
      return formatShare(summary.slo_attainment);
    case 'hits':
      return formatShare(summary.prefix_hit_rate);
    case 'imbalance':
      return formatNumber(imbalanceOf(summary.engines));
    case 'refused':
      return formatNumber(summary.rejected);
    case 'preempted':
      return formatNumber(summary.preemptions);
    case 'GPU-hours':
      return formatNumber(virtualGpuHours(summary));
  }
}

/** GPUs of all engines × simulated time. */
function virtualGpuHours({
  autoscaling,
  gpus,
  simulated_seconds: seconds,
}: Summary): number | null {
  return autoscaling ? autoscaling.gpu_hours : roundTo((gpus * seconds) / SECONDS_PER_HOUR, 6);
}

function classTable(
  outcomes: readonly PolicyOutcome[],
  { consoleTable, formatMs, formatShare }: Formats,
): string {
  const names = ['policy', 'SLO class', 'in SLO', 'TTFT p50', 'TTFT p99', 'waited p99'];
  const rows = outcomes.flatMap(({ policy, summary }) =>
    summary.slo_classes!.map(({ name, slo_attainment, ttft_ms, flow_wait_ms }) => [
      ...[policy, name, formatShare(slo_attainment)],
      ...[formatMs(ttft_ms.p50), formatMs(ttft_ms.p99), formatMs(flow_wait_ms?.p99 ?? null)],
    ]),
  );
  return consoleTable(aligned(names, 2), rows);
}

function liveTable(
  { columns }: PolicyKind,
  outcomes: readonly PolicyOutcome[],
  { consoleTable, formatMs, formatNumber, formatShare }: Formats,
): string {
  const names = ['policy', 'TTFT mean', 'TTFT p99', 'TPOT mean', 'goodput/s'];
  const ofPlacement = columns.filter((name) => name === 'hits' || name === 'imbalance');
  const rows = outcomes.map(({ policy, live }) => [
    liveName({ policy, live }),
    formatMs(live?.ttft_ms ?? null),
    formatMs(live?.ttft_ms_p99 ?? null),
    formatMs(live?.tpot_ms ?? null),
    formatNumber(live?.goodput_rps ?? null),
    ...ofPlacement.map((name) =>
      name === 'hits'
        ? formatShare(live?.prefix_hit_rate ?? null)
        : formatNumber(live?.imbalance ?? null),
    ),
    formatNumber(live?.completed ?? null),
    formatNumber(live?.gpu_hours ?? null),
    formatNumber(live?.policy_faults ?? null),
    wholeNumber(live?.decisions_per_second, formatNumber),
  ]);
  const last = ['completed', GPU_HOURS, 'faults', 'decisions/s'];
  return consoleTable(aligned([...names, ...ofPlacement, ...last]), rows);
}

function wholeNumber(
  value: number | null | undefined,
  formatNumber: Formats['formatNumber'],
): string {
  return formatNumber(value == null ? null : Math.round(value));
}

/** Marks a policy whose live figures are void. */
function liveName({ policy, live }: Pick<PolicyOutcome, 'policy' | 'live'>): string {
  return live !== undefined && live.void !== null ? `${policy} (VOID)` : policy;
}

/** @param texts columns at the left that hold text */
function aligned(names: readonly string[], texts = 1): report.ConsoleColumn[] {
  return names.map((name, at) => ({ name, align: at < texts ? 'left' : 'right' }));
}

/** A latency of each policy as a bar, the shortest first. */
function plotOf(
  title: string,
  figures: readonly { readonly policy: string; readonly ms: number | null }[],
  { formatMs, CONSOLE_WIDTH }: Formats,
): string {
  const bars = figures
    .map(({ policy, ms }) => ({ policy, ms: ms ?? Infinity }))
    .filter(({ ms }) => ms < Infinity)
    .sort((a, b) => a.ms - b.ms);
  const longest = bars.at(-1)?.ms ?? 0;
  const width = Math.max(0, ...bars.map(({ policy }) => policy.length));
  const room = Math.max(1, Math.min(PLOT_COLUMNS, CONSOLE_WIDTH - width - FIGURE_COLUMNS));
  const lines = bars.map(({ policy, ms }) => {
    const length = longest === 0 ? 0 : Math.max(1, Math.round((ms / longest) * room));
    return `${policy.padEnd(width)}  ${'█'.repeat(length)} ${formatMs(ms)}`;
  });
  return [title, ...lines, ''].join('\n');
}
