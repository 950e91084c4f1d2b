import type { CostSummary } from '@baton/analysis';
import { formatNumber } from '../format-number';
import type { ReportSection } from '../sections';

/** Two lines: the cost of the GPUs, and their energy. */
export function costLines(cost: CostSummary): (readonly [name: string, text: string])[] {
  const dollars = `${usd(cost.usd)} for ${formatNumber(cost.gpu_hours)} GPU-hours`;
  const perTokens = `${usd(cost.usd_per_million_output_tokens)} per million output tokens`;
  const prices = cost.by_gpu.map(
    ({ gpu, usd_per_gpu_hour: price, price_source: source }) =>
      `${gpu} ${usd(price)}/h (${source})`,
  );
  return [
    ['cost', `${dollars}, ${usd(cost.usd_per_hour)} per hour, ${perTokens}`],
    ['', prices.join('; ')],
    ['energy', energyText(cost)],
  ];
}

/** `12.1 kWh, mean 3,210 W, 2.1 J per output token, 700 J per request`. */
function energyText(cost: CostSummary): string {
  if (cost.energy_kwh === null) return 'unknown: the table of GPUs has no watts for one of them';
  const [kwh, watts] = [formatNumber(cost.energy_kwh), formatNumber(cost.mean_watts)];
  const perToken = `${formatNumber(cost.joules_per_output_token)} J per output token`;
  const perRequest = `${formatNumber(cost.joules_per_request)} J per request`;
  return `${kwh} kWh, mean ${watts} W, ${perToken}, ${perRequest}`;
}

/** The figures as tiles, and the GPUs with the sources of their prices and watts. */
export function costSections(cost: CostSummary | undefined): ReportSection[] {
  if (cost === undefined) return [];
  return [
    {
      kind: 'keyValues',
      title: 'Cost and energy',
      look: 'tiles',
      entries: [
        ['cost', usd(cost.usd), `${usd(cost.usd_per_hour)} per hour`],
        ['GPU-hours', formatNumber(cost.gpu_hours)],
        ['per million output tokens', usd(cost.usd_per_million_output_tokens)],
        ['per 1,000 requests', usd(cost.usd_per_thousand_requests)],
        ['mean power', `${formatNumber(cost.mean_watts)} W`],
        ['energy per output token', `${formatNumber(cost.joules_per_output_token)} J`],
        ['energy per request', `${formatNumber(cost.joules_per_request)} J`],
      ],
    },
    {
      kind: 'table',
      title: 'GPUs: prices and watts',
      columns: GPU_COLUMNS.map((name) => ({ name })),
      rows: cost.by_gpu.map((one) => [
        ...[one.gpu, formatNumber(one.gpu_hours), usd(one.usd_per_gpu_hour), usd(one.usd)],
        ...[formatNumber(one.energy_kwh), one.price_source],
        one.watts === null
          ? 'not known'
          : `${one.watts.idle}, ${one.watts.decode}, ${one.watts.prefill}`,
        one.watts_source,
      ]),
    },
  ];
}

const GPU_COLUMNS = [
  ...['GPU', 'GPU-hours', '$ per GPU-hour', 'cost', 'kWh', 'price read from'],
  ...['watts idle, decode, prefill', 'watts read from'],
];

/** `$1,234`, `$0.0123`. */
export function usd(amount: number | null): string {
  return amount === null ? formatNumber(null) : `$${formatNumber(amount)}`;
}
