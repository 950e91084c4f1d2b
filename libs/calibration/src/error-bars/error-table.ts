import { parseCsv } from '@baton/kernel';

/** The figures of a serving measurement. */
export const ERROR_FIGURES = ['ttft', 'tpot', 'e2el'] as const;
export type ErrorFigure = (typeof ERROR_FIGURES)[number];

/** The rows that are learned from all systems together. */
export const ALL_SYSTEMS = 'all';

/** Errors of one figure under one range of loads on one class of systems. */
export interface ErrorRow {
  /** `hopper`, `blackwell`, …, or `all`. */
  readonly system: string;
  readonly figure: ErrorFigure;
  /** Requests under way on an engine, from (included) and to (excluded; Infinity: no limit). */
  readonly loadFrom: number;
  readonly loadTo: number;
  readonly points: number;
  /** Number of deployments (system, framework, model, precision) of the points. */
  readonly groups: number;
  /** Measured / simulated: its 10 %, 50 % and 90 % points. */
  readonly low: number;
  readonly median: number;
  readonly high: number;
  /**
   * Two points of one group share most of their error. The ratio of their errors, the larger over
   * the smaller, is at most this in 80 % of the pairs.
   */
  readonly apart: number;
}

const HEAD = 'system,figure,load_from,load_to,points,groups,low,median,high,apart';
const DECIMALS = 3;

/** @param origin  a line with date and command, without a line break */
export function formatErrorTable(rows: readonly ErrorRow[], origin: string): string {
  const lines = rows.map((row) => {
    const shown = (value: number): string => value.toFixed(DECIMALS);
    const factors = [row.low, row.median, row.high, row.apart].map(shown);
    const loads = [row.loadFrom, row.loadTo === Infinity ? '' : row.loadTo];
    return [row.system, row.figure, ...loads, row.points, row.groups, ...factors].join(',');
  });
  return `# ${origin}\n${[HEAD, ...lines].join('\n')}\n`;
}

/** Reads the text of `formatErrorTable`. */
export function parseErrorTable(text: string): ErrorRow[] {
  return parseCsv(text).rows.map(({ cells }) => {
    const number = (name: string): number => Number(cells[name]);
    return {
      system: cells['system'] ?? '',
      figure: cells['figure'] as ErrorFigure,
      loadFrom: number('load_from'),
      loadTo: cells['load_to'] === '' ? Infinity : number('load_to'),
      points: number('points'),
      groups: number('groups'),
      low: number('low'),
      median: number('median'),
      high: number('high'),
      apart: number('apart'),
    };
  });
}

/** The class of systems whose errors are learned together. */
export function systemClassOf(gpu: string): string {
  const name = gpu.toLowerCase();
  if (/gb[23]00/.test(name)) return 'rack';
  if (/h(100|200|20)(?!\d)/.test(name)) return 'hopper';
  return /b[23]00/.test(name) ? 'blackwell' : 'other';
}

/** The row for a load: of the class of the system if it has one, else of all systems. */
export function errorRowFor(
  rows: readonly ErrorRow[],
  { system, figure, load }: { system: string; figure: ErrorFigure; load: number },
): ErrorRow | undefined {
  const fits = rows.filter((row) => {
    return row.figure === figure && row.loadFrom <= load && load < row.loadTo;
  });
  return (
    fits.find((row) => row.system === system) ?? fits.find((row) => row.system === ALL_SYSTEMS)
  );
}
