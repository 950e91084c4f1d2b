import type { HeatMapSection } from '@baton/report';
import type { PlanDocument, SplitDocument } from './plan-document';

/**
 * Goodput per GPU over the shares of prefill and decode, with a row for each pair of sizes. All
 * GPUs are used, so the GPUs of prefill determine those of decode. A map of P by D would be one
 * diagonal per row of this one.
 */
export function heatMapOf({ splits, gpus, winner }: PlanDocument): HeatMapSection {
  const simulated = splits.filter((split) => split.simulated);
  const cells = simulated.map((split) => ({ split, ...placeOf(split, gpus) }));
  const rows = [...new Set(cells.map(({ row }) => row))];
  const orders = new Map(cells.map(({ column, order }) => [column, order]));
  const columns = [...orders.keys()].sort((a, b) => orders.get(a)! - orders.get(b)!);
  const values = rows.map((row) => {
    return columns.map((column) => {
      const cell = cells.find((each) => each.row === row && each.column === column);
      return cell?.split.goodput_rps_per_gpu ?? null;
    });
  });
  const best = cells.find(({ split }) => split.name === winner.name)!;
  return {
    kind: 'heatMap',
    title: 'Goodput per GPU: requests per second within the SLO',
    note: 'GPUs of prefill : GPUs of decode. Splits that were not simulated are left out.',
    columnsAre: 'prefill : decode',
    rowsAre: 'GPUs per engine',
    columns,
    rows,
    values,
    decimals: decimalsFor(winner.goodput_rps_per_gpu ?? 1),
    best: [rows.indexOf(best.row), columns.indexOf(best.column)],
  };
}

function placeOf(split: SplitDocument, gpus: number) {
  const { prefill = 0, decode = 0, aggregated = 0 } = split.tensor_parallel_size;
  if (split.kind === 'aggregated') {
    return { row: `tp${aggregated}`, column: 'aggregated', order: gpus };
  }
  const prefillGpus = prefill * Number(/^\d+/.exec(split.topology)?.[0]);
  const row = prefill === decode ? `tp${prefill}` : `tp${prefill}, tp${decode}`;
  return { row, column: `${prefillGpus} : ${gpus - prefillGpus}`, order: prefillGpus };
}

/** Decimals that show three digits of the largest value. */
function decimalsFor(largest: number): number {
  return Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(largest))));
}
