import type { Distribution } from '@baton/analysis';
import type { PlanDocument, SplitDocument } from './plan-document';

const ROLES = ['prefill', 'decode', 'aggregated'] as const;
const LATENCIES = ['ttft_ms', 'tpot_ms', 'itl_ms', 'e2el_ms'] as const;
const STATISTICS = [
  'mean',
  'p50',
  'p90',
  'p95',
  'p99',
  'max',
] as const satisfies readonly (keyof Distribution)[];

const HEAD = [
  ...['name', 'topology', 'kind'],
  ...ROLES.map((role) => `${role}_tensor_parallel_size`),
  'settings',
  ...[
    'estimated_rps',
    'simulated',
    'request_rate',
    'goodput_rps',
    'goodput_rps_per_gpu',
    'slo_attainment',
  ],
  ...['refused', 'comparable'],
  ...LATENCIES.flatMap((latency) => STATISTICS.map((statistic) => `${statistic}_${latency}`)),
  ...ROLES.map((role) => `${role}_utilisation`),
  ...['on_pareto_front', 'simulations'],
];

/** One row for each split, with the names of the JSON document. A missing figure is empty. */
export function planCsv({ splits }: PlanDocument): string {
  return [HEAD, ...splits.map(cells)].map((row) => `${row.join(',')}\n`).join('');
}

function cells(split: SplitDocument): (string | number | boolean | null | undefined)[] {
  return [
    ...[split.name, split.topology, split.kind],
    ...ROLES.map((role) => split.tensor_parallel_size[role]),
    JSON.stringify(split.settings).replaceAll(',', ';'),
    ...[
      split.estimated_rps,
      split.simulated,
      split.request_rate,
      split.goodput_rps,
      split.goodput_rps_per_gpu,
    ],
    ...[split.slo_attainment, split.refused, split.comparable],
    ...LATENCIES.flatMap((latency) => STATISTICS.map((statistic) => split[latency]?.[statistic])),
    ...ROLES.map((role) => split.utilisation[role]),
    ...[split.on_pareto_front, split.simulations],
  ];
}
