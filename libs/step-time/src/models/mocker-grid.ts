import { type CsvRow, parseCsv } from '@baton/kernel';
import { PiecewiseLinear } from '../port/piecewise-linear';
import { type BatchAggregates, MIN_STEP_US, type StepTimeModel } from '../port/step-time-model';
import { isAbove, type OutsideRange } from '../port/valid-range';
import { RaggedGrid } from './ragged-grid';
import { badTable, readNumber } from './table-cells';

const PREFILL = ['prefill_isl', 'prefill_ttft_ms'] as const;
const DECODE = ['decode_active_kv_tokens', 'decode_context_length', 'decode_itl'] as const;

/** Whether a CSV has the columns of the Dynamo mocker's planner profile. */
export function isMockerGrid(csv: string): boolean {
  return parseCsv(csv.split('\n', 1)[0] ?? '').columns.includes(PREFILL[0]);
}

/**
 * The Dynamo mocker's planner profile (`perf_data.npz`) as CSV, with the names of its arrays as
 * columns: rows of prompt tokens and milliseconds, and rows of active KV tokens, context length and
 * milliseconds per token. Prefill is looked up by the prompt tokens of the step, decode by Σ
 * context and mean context, linearly between the points; a step takes the sum, as the mocker has
 * it. Both coordinates of decode grow with the context, so no line follows it.
 */
export class MockerGridStepTime implements StepTimeModel {
  readonly description: string;
  private readonly prefill: PiecewiseLinear;
  private readonly decode: RaggedGrid;

  /** @throws HardwareError `bad-profile`, with the line */
  constructor(csv: string) {
    const { prompts, tokens } = readRows(csv);
    const rising = [...prompts].sort((a, b) => a.tokens - b.tokens);
    this.prefill = new PiecewiseLinear(
      rising.map((row) => row.tokens),
      rising.map((row) => row.ms * 1000),
    );
    this.decode = new RaggedGrid(
      tokens.map(({ context, active, ms }) => ({ row: context, x: active, y: ms * 1000 })),
    );
    this.description =
      `planner profile of ${prompts.length} prompts and ${tokens.length} ` + 'decode points';
  }

  stepUs({ prefillTokens, decodeSeqs, decodeContext }: BatchAggregates): number {
    const prefillUs = prefillTokens > 0 ? Math.max(0, this.prefill.at(prefillTokens)) : 0;
    if (decodeSeqs === 0) return Math.max(MIN_STEP_US, prefillUs);
    const decodeUs = Math.max(0, this.decode.at(decodeContext / decodeSeqs, decodeContext));
    return Math.max(MIN_STEP_US, prefillUs + decodeUs);
  }

  outsideRange({ prefillTokens, decodeSeqs, decodeContext }: BatchAggregates) {
    const prompts = [this.prefill.firstX, this.prefill.lastX] as const;
    if (isAbove(prompts, prefillTokens)) {
      return { what: 'prompt tokens per step', value: prefillTokens, range: prompts };
    }
    return decodeSeqs > 0 ? this.outsideOfDecode(decodeContext, decodeSeqs) : undefined;
  }

  private outsideOfDecode(decodeContext: number, decodeSeqs: number): OutsideRange | undefined {
    const context = decodeContext / decodeSeqs;
    const contexts = [0, this.decode.rowRange[1]] as const;
    if (isAbove(contexts, context)) {
      return { what: 'context tokens per decoding sequence', value: context, range: contexts };
    }
    const active = [0, this.decode.xRangeNear(context)[1]] as const;
    if (!isAbove(active, decodeContext)) return undefined;
    return { what: 'context tokens of a decode step', value: decodeContext, range: active };
  }
}

interface Rows {
  readonly prompts: { readonly tokens: number; readonly ms: number }[];
  readonly tokens: { readonly active: number; readonly context: number; readonly ms: number }[];
}

function readRows(csv: string): Rows {
  const { columns, rows: all } = parseCsv(csv);
  const absent = [...PREFILL, ...DECODE].filter((name) => !columns.includes(name));
  if (absent.length > 0) throw badTable(`line 1 lacks the columns ${absent.join(', ')}`);
  const rows: Rows = { prompts: [], tokens: [] };
  for (const row of all) readRow(row, rows);
  if (rows.prompts.length > 0 && rows.tokens.length > 0) return rows;
  throw badTable(`it needs rows with ${PREFILL.join(', ')} and rows with ${DECODE.join(', ')}`);
}

/** A row has a prompt, a decode point, or both. */
function readRow({ cells, line }: CsvRow, rows: Rows): void {
  const isGiven = (names: readonly string[]) => names.some((name) => cells[name] !== '');
  const number = (name: string, min: number) =>
    readNumber({ text: cells[name] ?? '', name, line, min });
  if (isGiven(PREFILL)) {
    rows.prompts.push({ tokens: number(PREFILL[0], 1), ms: number(PREFILL[1], 0) });
  }
  if (!isGiven(DECODE)) return;
  rows.tokens.push({
    active: number(DECODE[0], 0),
    context: number(DECODE[1], 1),
    ms: number(DECODE[2], 0),
  });
}
