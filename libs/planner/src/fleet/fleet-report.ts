import { foldExcept, formatNumber, type ReportAnswer, type ReportPage, usd } from '@baton/report';
import { cellsWithEnds } from '../document/cell-ends';
import { extrapolationSections } from '../document/extrapolations';
import {
  answersText,
  FLEET_COLUMNS,
  fleetEnds,
  fleetRow,
  fleetStepTimes,
  assumptionColumns,
  assumptionRows,
  sorted,
} from './fleet-console';
import type { FleetDocument, FleetsDocument } from './fleet-document';

/** A search as an HTML page. */
export function fleetsReport(
  document: FleetsDocument,
  heading: { readonly title: string; readonly subtitle: string },
): ReportPage {
  const { command, notes } = document;
  return {
    ...heading,
    answer: answer(document),
    sections: foldExcept(
      [
        { kind: 'note', title: 'Answers', text: [...answersText(document), ...notes].join('\n\n') },
        ...(command === null
          ? []
          : [{ kind: 'commands' as const, title: 'Start it', commands: [command] }]),
        {
          kind: 'table',
          title: 'Fleets: each at its highest rate within the SLO',
          columns: FLEET_COLUMNS,
          rows: sorted(document).map(rowOf),
        },
        {
          kind: 'table',
          title: 'Under other assumptions: the fleet that is started, at its rate',
          columns: assumptionColumns(document),
          rows: assumptionRows(document),
        },
        {
          kind: 'table',
          title: 'Dropped on a shorter prefix',
          columns: FLEET_COLUMNS,
          rows: document.dropped.map(rowOf),
        },
        {
          kind: 'table',
          title: 'Step times',
          columns: [{ name: 'model' }],
          rows: fleetStepTimes(document).map((line) => [line]),
        },
        ...extrapolationSections(document.extrapolations),
      ],
      ['Answers', 'Start it', 'Fleets'],
    ),
  };
}

function rowOf(fleet: FleetDocument): string[] {
  return cellsWithEnds(fleetRow(fleet), fleetEnds(fleet));
}

function answer(document: FleetsDocument): ReportAnswer {
  const { cheapest_for_load: cheapest } = document.answers;
  return {
    verdict: cheapest === null ? 'missed' : 'met',
    sentence: answersText(document)[0]!,
    figures:
      cheapest === null
        ? []
        : [
            ['dollars per hour', usd(cheapest.usd_per_hour)],
            ['GPUs', formatNumber(cheapest.gpus)],
            ['load, requests/s', formatNumber(document.load_rps)],
          ],
  };
}

const HEAD = [
  ...['name', 'kind', 'topology', 'sized_for', 'gpus_in_all', 'usd_per_hour', 'requests'],
  ...['request_rate', 'goodput_rps', 'slo_attainment', 'p90_ttft_ms', 'p90_tpot_ms'],
  ...['usd_per_thousand_requests', 'mean_watts', 'joules_per_output_token', 'on_pareto_front'],
];

/** One row for each simulated fleet. A missing figure is empty. */
export function fleetsCsv(document: FleetsDocument): string {
  const all = [...document.fleets, ...document.fitted_to_load, ...document.dropped];
  const rows = all.map((fleet) => [
    ...[`"${fleet.name}"`, fleet.kind, fleet.topology, fleet.sized_for, fleet.gpus_in_all],
    ...[fleet.usd_per_hour, fleet.requests, fleet.request_rate, fleet.goodput_rps],
    ...[fleet.slo_attainment, fleet.ttft_ms?.p90, fleet.tpot_ms?.p90],
    ...[fleet.cost?.usd_per_thousand_requests, fleet.cost?.mean_watts],
    ...[fleet.cost?.joules_per_output_token, fleet.on_pareto_front],
  ]);
  return [HEAD, ...rows].map((row) => `${row.join(',')}\n`).join('');
}
