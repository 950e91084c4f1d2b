import { parseArgs } from 'node:util';
import { median } from '@baton/kernel';
import { type Agreement, type ComparedRun, liveAgainstVirtual } from './live-virtual';

export const PLACEMENTS = ['round-robin', 'pull'] as const;
type Placement = (typeof PLACEMENTS)[number];

/** Number of runs and speed of a comparison of the live and the virtual clock. */
export interface ClockComparison extends Omit<ComparedRun, 'placement'> {
  readonly runs: number;
  readonly placements: readonly Placement[];
}

/** The compared figures in the order of the output, in ms except the last. */
const FIGURES: Readonly<Record<string, (of: Agreement['live']) => number>> = {
  ttft_mean: ({ ttft }) => ttft.mean,
  ttft_p50: ({ ttft }) => ttft.p50,
  ttft_p99: ({ ttft }) => ttft.p99,
  itl_mean: ({ itl }) => itl.mean,
  itl_p99: ({ itl }) => itl.p99,
  double_takes: (run) => run.double_takes,
};

/** The comparison of `npm run bench -- live-virtual`, from the flags behind these words. */
export function comparisonOf(args: readonly string[]): ClockComparison {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const numbers = { runs: text('5'), requests: text('2000'), speedup: text('1') };
  const options = { ...numbers, placement: text(''), 'api-processes': text('1') };
  const { values } = parseArgs({ args: [...args], options });
  const { runs, requests, speedup, placement } = values;
  return {
    runs: Number(runs),
    requests: Number(requests),
    speedup: Number(speedup),
    apiProcesses: values['api-processes'],
    placements: PLACEMENTS.filter((one) => placement === '' || placement === one),
  };
}

/** Runs on both clocks for each placement, and takes the median deviation of each figure. */
export async function compareClocks(requested: ClockComparison): Promise<Record<string, object>> {
  const of = async (placement: Placement): Promise<object> => {
    const runs: Agreement[] = [];
    for (let i = 0; i < requested.runs; i += 1) {
      const { requests, speedup, apiProcesses } = requested;
      runs.push(await liveAgainstVirtual({ requests, speedup, apiProcesses, placement }));
      process.stderr.write(tableOf(runs.slice(-1)));
    }
    if (runs.length > 1) process.stderr.write(tableOf(runs));
    return { median_deviation: mediansOf(runs), runs };
  };
  const compared: Record<string, object> = {};
  for (const placement of requested.placements) compared[placement] = await of(placement);
  return compared;
}

function mediansOf(runs: readonly Agreement[]): Record<string, number> {
  const names = Object.keys(FIGURES);
  return Object.fromEntries(names.map((name) => [name, median(runs.map(deviationOf(name)))]));
}

/** Live / virtual − 1. */
function deviationOf(name: string): (run: Agreement) => number {
  const figure = FIGURES[name]!;
  return ({ live, virtual }) => figure(live) / figure(virtual) - 1;
}

/** Medians over the runs. */
function tableOf(runs: readonly Agreement[]): string {
  const lag = median(runs.map(({ step_lag_p99_ms }) => step_lag_p99_ms));
  const title = `${runs[0]!.placement}, ${runs.length} runs, lag p99 ${lag.toFixed(2)} ms`;
  const rows = Object.entries(FIGURES).map(([name, figure]) => {
    const live = median(runs.map((run) => figure(run.live)));
    const virtual = median(runs.map((run) => figure(run.virtual)));
    const percent = 100 * median(runs.map(deviationOf(name)));
    return [name, live.toFixed(3), virtual.toFixed(3), `${percent.toFixed(1)} %`];
  });
  const lines = [['', 'live', 'virtual', 'deviation'], ...rows].map(
    ([name = '', ...cells]) => name.padEnd(14) + cells.map((cell) => cell.padStart(11)).join(''),
  );
  return `${title}\n${lines.join('\n')}\n`;
}
