import {
  CONSOLE_WIDTH,
  consoleTable,
  formatMs,
  formatNumber,
  formatShare,
  usd,
  wrapWords,
} from '@baton/report';
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
    consoleTable(FLEET_COLUMNS, sorted(document).map(fleetRow), width),
    answersText(document)
      .map((line) => wrapWords(line))
      .join(''),
    ...(document.sensitivity.length === 0
      ? []
      : [consoleTable(assumptionColumns(document), assumptionRows(document), width)]),
    fleetStepTimes(document)
      .map((line) => wrapWords(`step times: ${line}`))
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

/** The three questions and their answers, one line each. */
export function answersText({ answers, load_rps, space, breaks_first }: FleetsDocument): string[] {
  const budget = space['budget_usd_per_hour'] as number | null;
  const whole = budget === null ? 'All of these GPUs serve' : `${usd(budget)} per hour serve`;
  const load = `${formatNumber(load_rps)} requests/s`;
  return [
    answers.cheapest_for_load === null
      ? `For the load of the workload (${load}): no simulated fleet keeps the SLO.`
      : `For the load of the workload (${load}): ` +
        `${fleetText(answers.cheapest_for_load)} is cheapest.`,
    ...(answers.fewest_gpus_for_load === null
      ? []
      : [`Fewest GPUs for it: ${fleetText(answers.fewest_gpus_for_load)}.`]),
    answers.most_goodput === null
      ? `${whole} nothing within the SLO.`
      : `${whole} at most ${formatNumber(answers.most_goodput.goodput_rps)} requests/s: ` +
        `${fleetText(answers.most_goodput)}.`,
    ...(breaks_first === null ? [] : [breaksText(breaks_first)]),
  ];
}

function fleetText({ name, gpus, usd_per_hour: price }: AnsweredFleet): string {
  return `${name} (${formatNumber(gpus)} GPUs, ${usd(price)} per hour)`;
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
