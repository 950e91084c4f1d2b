import type { EngineRoleName, RoleScaling, StartupSummary, Summary } from '@baton/analysis';
import { consoleTable } from '../console-table';
import { formatNumber, formatShare } from '../format-number';

const COLUMNS = [
  ...['autoscaler', 'engine hours', 'ready', 'demand', 'under', 'over'],
  ...['hours short', 'hours spare'],
];

/** The autoscaling of a run, one line per role. Empty without an autoscaler. */
export function scalingTable({ autoscaling }: Summary): string {
  if (autoscaling === undefined) return '';
  const { gpu_hours, gpu_hours_at_max, peak_gpus, events, roles } = autoscaling;
  const rows = Object.entries(roles).map(([role, figures]) =>
    roleRow(role as EngineRoleName, figures),
  );
  const columns = COLUMNS.map((name, i) => {
    return { name, align: i === 0 ? ('left' as const) : ('right' as const) };
  });
  const line =
    `${autoscaling.autoscaler}: ${formatNumber(gpu_hours)} GPU-hours ` +
    `(${formatNumber(gpu_hours_at_max)} at ${autoscaling.max}), at most ` +
    `${formatNumber(peak_gpus)} GPUs, ${formatNumber(events.length)} changes\n`;
  return consoleTable(columns, rows) + line + startupLine(autoscaling.startups);
}

function startupLine(startups: StartupSummary | undefined): string {
  if (startups === undefined) return '';
  const hours = Object.entries(startups.engine_hours);
  const parts = hours.map(([cause, each]) => `${cause} ${formatNumber(each)}`);
  return `${formatNumber(startups.starts)} starts, engine hours: ${parts.join(', ')}\n`;
}

function roleRow(role: EngineRoleName, figures: RoleScaling): string[] {
  return [
    role,
    formatNumber(figures.engine_hours),
    formatNumber(figures.ready_mean),
    formatNumber(figures.demand_mean),
    formatShare(figures.under_share),
    formatShare(figures.over_share),
    formatNumber(figures.under_engine_hours),
    formatNumber(figures.over_engine_hours),
  ];
}
