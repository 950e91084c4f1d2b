import {
  CONSOLE_WIDTH,
  consoleTable,
  formatMs,
  formatMsInterval,
  formatNumber,
  formatShare,
  formatWithInterval,
  usd,
  wrapWords,
} from '@baton/report';
import { endsCell } from '../document/cell-ends';
import { extrapolationLines } from '../document/extrapolations';
import type { Breakage } from './breakage';
import type { AnsweredFleet } from './fleet-answers';
import type { FleetDocument, FleetsDocument } from './fleet-document';

/**
 * A search as text: the fleets, the answers, and the command to start the chosen fleet.
 *
 * @param isWide  true: every column, at any width
 */
export function fleetsConsole(document: FleetsDocument, title: string, isWide = false): string {
  const { command } = document;
  const width = isWide ? Infinity : CONSOLE_WIDTH;
  return [
    wrapWords(title),
    consoleTable(FLEET_COLUMNS, rowsWithEnds(document), width),
    answersText(document)
      .map((line) => wrapWords(line))
      .join(''),
    ...(document.sensitivity.length === 0
      ? []
      : [consoleTable(assumptionColumns(document), assumptionRows(document), width)]),
    [
      ...fleetStepTimes(document).map((line) => `step times: ${line}`),
      ...extrapolationLines(document.extrapolations),
    ]
      .map((line) => wrapWords(line))
      .join(''),
    ...(command === null ? [] : [`start it:      ${command}\n`]),
  ].join('\n');
}

export const FLEET_COLUMNS = [
  ...['fleet', 'GPUs', '$ per hour', 'goodput', '$ per 1,000 requests', '$ per 1M output tokens'],
  ...['TTFT p90', 'TPOT p90', 'W', 'J per output token', 'front'],
].map((name, i) => ({ name, align: i === 0 ? ('left' as const) : ('right' as const) }));

/** Fleets simulated on the whole workload, the cheapest requests first. */
export function sorted({ fleets, fitted_to_load: fitted }: FleetsDocument): FleetDocument[] {
  const price = ({ cost }: FleetDocument): number => cost?.usd_per_thousand_requests ?? Infinity;
  return [...fleets, ...fitted.filter(isKept)].sort((a, b) => price(a) - price(b));
}

function isKept({ goodput_rps: goodput }: FleetDocument): boolean {
  return (goodput ?? 0) > 0;
}

export function fleetRow(fleet: FleetDocument): string[] {
  const { cost } = fleet;
  return [
    ...[fleet.name, formatNumber(fleet.gpus_in_all), usd(fleet.usd_per_hour)],
    formatNumber(fleet.goodput_rps),
    usd(cost?.usd_per_thousand_requests ?? null),
    usd(cost?.usd_per_million_output_tokens ?? null),
    ...[formatMs(fleet.ttft_ms?.p90 ?? null), formatMs(fleet.tpot_ms?.p90 ?? null)],
    ...[
      formatNumber(cost?.mean_watts ?? null),
      formatNumber(cost?.joules_per_output_token ?? null),
    ],
    fleet.on_pareto_front ? 'yes' : '',
  ];
}

/** Figures, and below them their intervals in the same units. */
function rowsWithEnds(document: FleetsDocument): string[][] {
  return sorted(document).flatMap((fleet) => {
    return fleet.intervals === null ? [fleetRow(fleet)] : [fleetRow(fleet), fleetEnds(fleet)];
  });
}

/** The 80 % intervals of a row, empty where a column has none. */
export function fleetEnds({ ttft_ms: ttft, tpot_ms: tpot, intervals }: FleetDocument): string[] {
  return [
    ...['', '', ''],
    endsCell(intervals?.goodput_rps),
    endsCell(intervals?.usd_per_thousand_requests),
    endsCell(intervals?.usd_per_million_output_tokens),
    formatMsInterval(ttft?.p90 ?? null, intervals?.ttft_ms.p90),
    formatMsInterval(tpot?.p90 ?? null, intervals?.tpot_ms.p90),
    ...['', '', ''],
  ];
}

/** Columns of what the fleet of `command` would have under each assumption. */
export function assumptionColumns({ breaks_first: chosen }: FleetsDocument) {
  const [name] = (chosen?.fleet ?? 'fleet').split(',');
  return [
    { name: `${name} if`, align: 'left' as const },
    ...['good', 'SLO', 'TTFT p90', 'TPOT p90'].map((each) => {
      return { name: each, align: 'right' as const };
    }),
  ];
}

export function assumptionRows({ sensitivity }: FleetsDocument): string[][] {
  return sensitivity.map((row) => [
    ...[row.assumption, formatShare(row.slo_attainment), row.keeps_slo ? 'kept' : 'missed'],
    ...[formatMs(row.p90_ttft_ms), formatMs(row.p90_tpot_ms)],
  ]);
}

/** The step times of the fleets in the table, each once. */
export function fleetStepTimes(document: FleetsDocument): string[] {
  return [...new Set(sorted(document).flatMap((fleet) => Object.values(fleet.step_times)))];
}

/** The questions and their answers, one line each, with what cannot be told apart from them. */
export function answersText(document: FleetsDocument): string[] {
  const { answers, load_rps, space, breaks_first, interval_level: level } = document;
  const budget = space['budget_usd_per_hour'] as number | null;
  const whole = budget === null ? 'All of these GPUs serve' : `${usd(budget)} per hour serve`;
  const load = `${formatNumber(load_rps)} requests/s`;
  return [
    answers.cheapest_for_load === null
      ? `For the load of the workload (${load}): no simulated fleet keeps the SLO.`
      : `For the load of the workload (${load}): ` +
        `${fleetText(answers.cheapest_for_load)} is cheapest, with a goodput of ` +
        `${goodputText(answers.cheapest_for_load)} requests/s.`,
    ...(answers.fewest_gpus_for_load === null
      ? []
      : [`Fewest GPUs for it: ${fleetText(answers.fewest_gpus_for_load)}.`]),
    answers.most_goodput === null
      ? `${whole} nothing within the SLO.`
      : `${whole} at most ${goodputText(answers.most_goodput)} requests/s: ` +
        `${fleetText(answers.most_goodput)}.`,
    ...alikeTexts(document),
    `In brackets: ${formatShare(level)} intervals of each fleet by itself.`,
    ...(breaks_first === null ? [] : [breaksText(breaks_first)]),
  ];
}

function fleetText({ name, gpus, usd_per_hour: price }: AnsweredFleet): string {
  return `${name} (${formatNumber(gpus)} GPUs, ${usd(price)} per hour)`;
}

function goodputText({ goodput_rps: rps, intervals }: AnsweredFleet): string {
  return formatWithInterval(rps, intervals?.goodput_rps);
}

/** The fleets that cannot be told apart from each answer. No line where there are none. */
function alikeTexts({ answers, not_told_apart: alike }: FleetsDocument): string[] {
  const line = (start: string, names: readonly string[]): string[] => {
    return names.length === 0 ? [] : [`${start}: ${names.join('; ')}.`];
  };
  const { most_goodput: most, cheapest_requests: cheapest } = answers;
  return [
    ...line(
      'Cheaper, and not to be told apart from a fleet that serves the load',
      alike.cheapest_for_load,
    ),
    ...line(`These cannot be told apart from ${most?.name ?? ''} by goodput`, alike.most_goodput),
    ...line(
      `These cannot be told apart from ${cheapest?.name ?? ''} by dollars per request`,
      alike.cheapest_requests,
    ),
  ];
}

function breaksText({ fleet, objective, busiest_role: role, points }: Breakage): string {
  if (objective === null)
    return `${fleet} still keeps the SLO at 1.5 times the rate that it is chosen for.`;
  const steps = points.map(({ load, slo_attainment: share, utilisation }) => {
    const busy = Object.entries(utilisation).map(([name, part]) => `${name} ${formatShare(part)}`);
    return `x${load}: ${formatShare(share)} good, busy ${busy.join(', ')}`;
  });
  return (
    `As the load of ${fleet} grows, ${objective.toUpperCase()} breaks first; its ${role ?? ''} ` +
    `engines are busiest (${steps.join('; ')}).`
  );
}
