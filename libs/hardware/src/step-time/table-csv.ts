import type { EnginePlacement } from '../engine-placement';
import { goesBy } from '../find-by-name';
import { HardwareError } from '../hardware-error';

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
  const lines = csv.split(/\r?\n/).map((line) => line.trim());
  const columns = readHeader(lines[0] ?? '');
  const present = new Set<string>();
  const rows: TableRow[] = [];
  for (let i = 1; i < lines.length; i++) {
    if (lines[i] === '') continue;
    const cells = readCells(lines[i]!, columns);
    present.add(`${cells.model} on ${cells.gpu} TP${cells.tp}`);
    if (isOf(cells, placement)) rows.push(readRow(cells, i + 1));
  }
  if (rows.length > 0) return rows;
  const { model, gpu, tp } = placement;
  throw bad(
    `it has no rows for ${model.name} on ${gpu.name} TP${tp}, only for: ${[...present].join(', ')}`,
  );
}

function readHeader(line: string): readonly string[] {
  const columns = line.split(',').map((name) => name.trim());
  const absent = COLUMNS.filter((name) => !columns.includes(name));
  if (absent.length > 0) throw bad(`line 1 lacks the columns ${absent.join(', ')}`);
  return columns;
}

function readCells(line: string, columns: readonly string[]): Cells {
  const values = line.split(',');
  const cells = columns.map((name, i) => [name, (values[i] ?? '').trim()]);
  return Object.fromEntries(cells) as Cells;
}

function isOf(cells: Cells, { model, gpu, tp }: EnginePlacement): boolean {
  return Number(cells.tp) === tp && goesBy(gpu, cells.gpu) && goesBy(model, cells.model);
}

function readRow(cells: Cells, line: number): TableRow {
  const { phase } = cells;
  if (phase !== 'prefill' && phase !== 'decode') {
    throw bad(`line ${line}: phase must be prefill or decode, not '${phase}'`);
  }
  const number = (column: Column, min: number) => {
    const value = cells[column] === '' ? NaN : Number(cells[column]);
    if (Number.isFinite(value) && value >= min) return value;
    throw bad(`line ${line}: ${column} must be a number from ${min}, not '${cells[column]}'`);
  };
  return {
    phase,
    batchSize: number('batch_size', 1),
    tokens: number('tokens_or_context', 1),
    cachedPrefix: number('cached_prefix', 0),
    latencyMs: number('latency_ms', 0),
  };
}

function bad(why: string): HardwareError {
  return new HardwareError('bad-profile', `The step-time table cannot be used: ${why}.`);
}
