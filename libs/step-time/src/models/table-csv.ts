import { type EnginePlacement, goesBy } from '@baton/hardware';
import { parseCsv } from '@baton/kernel';
import { badTable, readNumber } from './table-cells';

/** One measured step. */
export interface TableRow {
  readonly phase: 'prefill' | 'decode';
  readonly batchSize: number;
  /** New tokens of each sequence (prefill), or context of each (decode). */
  readonly tokens: number;
  readonly cachedPrefix: number;
  readonly latencyMs: number;
}

const COLUMNS = [
  'gpu',
  'model',
  'tp',
  'phase',
  'batch_size',
  'tokens_or_context',
  'cached_prefix',
  'latency_ms',
] as const;
type Column = (typeof COLUMNS)[number];
type Cells = Readonly<Record<Column, string>>;

/**
 * Reads a step-time table (comma separated, with a header, columns in any order) and keeps the rows
 * of one placement.
 *
 * @throws HardwareError `bad-profile` with the line, or with what the table has instead
 */
export function readTable(csv: string, placement: EnginePlacement): TableRow[] {
  const { columns, rows: all } = parseCsv(csv);
  const absent = COLUMNS.filter((name) => !columns.includes(name));
  if (absent.length > 0) throw badTable(`line 1 lacks the columns ${absent.join(', ')}`);
  const present = new Set<string>();
  const rows: TableRow[] = [];
  for (const { line, cells: given } of all) {
    const cells = given as Cells;
    present.add(`${cells.model} on ${cells.gpu} TP${cells.tp}`);
    if (isOf(cells, placement)) rows.push(readRow(cells, line));
  }
  if (rows.length > 0) return rows;
  const { model, gpu, tp } = placement;
  throw badTable(
    `it has no rows for ${model.name} on ${gpu.name} TP${tp}, only for: ${[...present].join(', ')}`,
  );
}

function isOf(cells: Cells, { model, gpu, tp }: EnginePlacement): boolean {
  return Number(cells.tp) === tp && goesBy(gpu, cells.gpu) && goesBy(model, cells.model);
}

function readRow(cells: Cells, line: number): TableRow {
  const { phase } = cells;
  if (phase !== 'prefill' && phase !== 'decode') {
    throw badTable(`line ${line}: phase must be prefill or decode, not '${phase}'`);
  }
  const number = (name: Column, min: number) => readNumber({ text: cells[name], name, line, min });
  return {
    phase,
    batchSize: number('batch_size', 1),
    tokens: number('tokens_or_context', 1),
    cachedPrefix: number('cached_prefix', 0),
    latencyMs: number('latency_ms', 0),
  };
}
