import { parseCsv } from '@baton/kernel';
import { decodeStep, type MeasuredStep, prefillStep } from '../fits/measured-step';
import { UsageError } from '@baton/config';
import { findGpu, findModel } from '@baton/hardware';
import type { InputOptions, Measured } from './measured';

/** Other names that a column may have. */
const SYNONYMS: Readonly<Record<string, string>> = {
  tokens: 'tokens_or_context',
  context: 'tokens_or_context',
  ms: 'latency_ms',
};
const NEEDED = ['phase', 'batch_size', 'tokens_or_context', 'latency_ms'];
const KNOWN = [...NEEDED, 'cached_prefix', 'gpu', 'model', 'tp'];

/**
 * Our own CSV. A row is a step of `batch_size` equal sequences, with `tokens_or_context` new tokens
 * (prefill) or context (decode) each, and `cached_prefix` tokens already in KV. With `gpu`, `model`
 * and `tp` it may hold several placements, of which one is chosen.
 */
export function readGridCsv(path: string, text: string, options: InputOptions): Measured {
  const csv = parseCsv(text);
  checkColumns(path, csv.columns.map(nameOf));
  const rows = csv.rows.map(({ line, cells }) => ({
    cells: new Map(Object.entries(cells).map(([name, cell]) => [nameOf(name), cell])),
    where: `${path}:${line}`,
  }));
  const placements = new Map(rows.map(({ cells }) => [placementOf(cells), cells]));
  const chosen = [...placements].filter(([, cells]) => isWanted(cells, options));
  if (chosen.length !== 1) throw undecided(path, [...placements.keys()], chosen.length);
  const [name] = chosen[0]!;
  const own = rows.filter(({ cells }) => placementOf(cells) === name);
  return { steps: own.map(({ cells, where }) => stepOf(cells, where)), notes: [] };
}

type Cells = ReadonlyMap<string, string>;

function nameOf(column: string): string {
  return SYNONYMS[column] ?? column;
}

function checkColumns(path: string, columns: readonly string[]): void {
  const unknown = columns.find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`${path}:1: unknown column '${unknown}'; use ${KNOWN.join(', ')}.`);
  }
  const absent = NEEDED.filter((name) => !columns.includes(name));
  if (absent.length === 0) return;
  throw new UsageError(`${path}:1: the columns ${absent.join(', ')} are missing.`);
}

function placementOf(cells: Cells): string {
  const [gpu, model, tp] = ['gpu', 'model', 'tp'].map((name) => cells.get(name));
  return [model, gpu && `on ${gpu}`, tp && `TP${tp}`].filter(Boolean).join(' ');
}

function isWanted(cells: Cells, { model, gpu, tp }: InputOptions): boolean {
  return (
    isSame(cells.get('model'), model, (name) => findModel(name).name) &&
    isSame(cells.get('gpu'), gpu, (name) => findGpu(name).name) &&
    isSame(cells.get('tp'), tp?.toString(), (name) => name)
  );
}

/** A fact that is missing on either side never distinguishes placements. */
function isSame(
  cell: string | undefined,
  wanted: string | undefined,
  catalogued: (name: string) => string,
): boolean {
  if (cell === undefined || wanted === undefined || cell === wanted) return true;
  try {
    return catalogued(cell) === catalogued(wanted);
  } catch {
    return false;
  }
}

function stepOf(cells: Cells, where: string): MeasuredStep {
  const number = (name: string, above: number, fallback?: number): number => {
    const cell = cells.get(name) ?? '';
    if (cell === '' && fallback !== undefined) return fallback;
    const value = cell === '' ? NaN : Number(cell);
    if (Number.isFinite(value) && value > above) return value;
    throw new UsageError(`${where}: ${name} must be a number above ${above}, not '${cell}'.`);
  };
  const count = number('batch_size', 0);
  const tokens = number('tokens_or_context', 0);
  const ms = number('latency_ms', 0);
  switch (cells.get('phase')) {
    case 'decode':
      return decodeStep(count, count * tokens, ms);
    case 'prefill':
      return prefillStep({ count, tokens, cached: number('cached_prefix', -1, 0), ms });
    default:
      throw new UsageError(
        `${where}: phase must be prefill or decode, not '${cells.get('phase') ?? ''}'.`,
      );
  }
}

function undecided(path: string, placements: readonly string[], wanted: number): UsageError {
  if (placements.length === 0) return new UsageError(`${path} holds no measurements.`);
  const shown = placements.slice(0, 4).join(', ');
  const more = placements.length > 4 ? ` and ${placements.length - 4} more` : '';
  const which = wanted === 0 ? 'none matches; choose one' : 'choose one';
  return new UsageError(`${path} holds ${shown}${more}: ${which} with --model, --gpu and --tp.`);
}
