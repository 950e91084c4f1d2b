import { type EnginePlacement, HardwareError } from '@baton/hardware';
import {
  type BatchAggregates,
  type DecodeLaw,
  MIN_STEP_US,
  type StepTimeModel,
} from '../port/step-time-model';
import { isAbove, isOutside, type OutsideRange, type Range } from '../port/valid-range';
import { RaggedGrid } from './ragged-grid';
import { readTable, type TableRow } from './table-csv';

export interface TableSpec {
  readonly kind: 'table';
  /**
   * The text of a CSV grid with the columns of data/profiles/calibration_grid.csv, or with those of
   * the Dynamo mocker's planner profile.
   */
  readonly csv: string;
}

/**
 * Measured steps, bilinear between them. Decode is looked up by batch size and mean context,
 * prefill by sequences and mean new tokens; the additional time of a cached prefix is looked up by
 * new tokens and prefix, for each sequence. A mixed step takes its prefill plus the time of decode
 * beyond the shortest measured decode step, because the weights are read once.
 */
export class TableStepTime implements StepTimeModel {
  readonly description: string;
  private readonly decode: RaggedGrid;
  private readonly prefill: RaggedGrid;
  private readonly prefix: RaggedGrid | undefined;
  private readonly shortestDecodeUs: number;

  /** @throws HardwareError `bad-profile` */
  constructor(spec: TableSpec, placement: EnginePlacement) {
    const rows = readTable(spec.csv, placement);
    const decodeRows = rowsOf(rows, 'decode');
    const prefillRows = rowsOf(rows, 'prefill').filter((row) => row.cachedPrefix === 0);
    this.decode = buildGrid(decodeRows);
    this.prefill = buildGrid(prefillRows);
    this.prefix = buildPrefixGrid(rows, this.prefill);
    this.shortestDecodeUs = Math.min(...decodeRows.map((row) => row.latencyMs)) * 1000;
    const { model, gpu, tp } = placement;
    this.description = `table of ${rows.length} steps for ${model.name} on ${gpu.name} TP${tp}`;
  }

  stepUs(batch: BatchAggregates): number {
    const prefillUs = batch.prefillTokens > 0 ? this.prefillUs(batch) : 0;
    if (batch.decodeSeqs === 0) return Math.max(MIN_STEP_US, prefillUs);
    const decodeUs = this.decodeUs(batch.decodeSeqs, batch.decodeContext);
    if (prefillUs === 0) return Math.max(MIN_STEP_US, decodeUs);
    return Math.max(MIN_STEP_US, prefillUs + Math.max(0, decodeUs - this.shortestDecodeUs));
  }

  /**
   * The line of the grid cell that holds `decodeContext`; none where the surface falls, as noise
   * makes it do.
   */
  decodeLaw(decodeSeqs: number, decodeContext = 0): DecodeLaw | undefined {
    const baseUs = this.locate(decodeSeqs, decodeContext);
    const perContextUs = this.decode.slope / decodeSeqs;
    const isAboveFloor = baseUs + perContextUs * decodeContext >= MIN_STEP_US;
    if (perContextUs < 0 || !isAboveFloor) return undefined;
    return { baseUs, perContextUs, contextLimit: Math.floor(this.decode.end * decodeSeqs) };
  }

  outsideRange(batch: BatchAggregates): OutsideRange | undefined {
    return (
      (batch.decodeSeqs > 0 ? this.outsideOfDecode(batch) : undefined) ??
      (batch.prefillTokens > 0 ? this.outsideOfPrefill(batch) : undefined)
    );
  }

  contextLimit(decodeSeqs: number): number {
    if (isOutside(this.decode.rowRange, decodeSeqs)) return -1;
    return Math.floor(this.decode.xRangeNear(decodeSeqs)[1] * decodeSeqs);
  }

  private outsideOfDecode({ decodeSeqs, decodeContext }: BatchAggregates) {
    if (isOutside(this.decode.rowRange, decodeSeqs)) {
      return { what: 'decoding sequences', value: decodeSeqs, range: this.decode.rowRange };
    }
    if (decodeContext <= this.contextLimit(decodeSeqs)) return undefined;
    const [, longest] = this.decode.xRangeNear(decodeSeqs);
    return {
      what: 'context tokens per decoding sequence',
      value: decodeContext / decodeSeqs,
      range: [0, longest] as const,
    };
  }

  private outsideOfPrefill(batch: BatchAggregates): OutsideRange | undefined {
    const { prefillTokens, prefillSeqs, prefillContext } = batch;
    const { rowRange } = this.prefill;
    if (isOutside(rowRange, prefillSeqs)) {
      return { what: 'prompts per step', value: prefillSeqs, range: rowRange };
    }
    const tokens = prefillTokens / prefillSeqs;
    const tokenRange = this.prefill.xRangeNear(prefillSeqs);
    if (isAbove(tokenRange, tokens)) {
      return { what: 'tokens per prompt', value: tokens, range: tokenRange };
    }
    const prefix = prefillContext / prefillSeqs;
    const prefixRange: Range = this.prefix?.xRangeNear(tokens) ?? [0, 0];
    if (!isAbove(prefixRange, prefix)) return undefined;
    return { what: 'cached tokens per prompt', value: prefix, range: prefixRange };
  }

  private prefillUs(batch: BatchAggregates): number {
    const { prefillTokens, prefillSeqs, prefillContext } = batch;
    const tokens = prefillTokens / prefillSeqs;
    const withoutPrefix = Math.max(0, this.prefill.at(prefillSeqs, tokens));
    if (prefillContext === 0 || this.prefix === undefined) return withoutPrefix;
    const added = Math.max(0, this.prefix.at(tokens, prefillContext / prefillSeqs));
    return withoutPrefix + added * prefillSeqs;
  }

  private decodeUs(decodeSeqs: number, decodeContext: number): number {
    const baseUs = this.locate(decodeSeqs, decodeContext);
    return baseUs + (this.decode.slope / decodeSeqs) * decodeContext;
  }

  private locate(decodeSeqs: number, decodeContext: number): number {
    this.decode.locate(decodeSeqs, decodeContext / decodeSeqs);
    return this.decode.intercept;
  }
}

function rowsOf(rows: readonly TableRow[], phase: TableRow['phase']): TableRow[] {
  return rows.filter((row) => row.phase === phase);
}

function buildGrid(rows: readonly TableRow[]): RaggedGrid {
  if (rows.length === 0) {
    throw new HardwareError(
      'bad-profile',
      'The step-time table cannot be used: it needs decode rows, and prefill rows without a ' +
        'cached prefix.',
    );
  }
  return new RaggedGrid(
    rows.map((row) => ({ row: row.batchSize, x: row.tokens, y: row.latencyMs * 1000 })),
  );
}

/** The time that a prefix adds to one sequence; 0 without a prefix or without new tokens. */
function buildPrefixGrid(rows: readonly TableRow[], prefill: RaggedGrid): RaggedGrid | undefined {
  const cached = rowsOf(rows, 'prefill').filter((row) => row.cachedPrefix > 0);
  if (cached.length === 0) return undefined;
  const points = cached.map((row) => ({
    row: row.tokens,
    x: row.cachedPrefix,
    y: (row.latencyMs * 1000 - prefill.at(row.batchSize, row.tokens)) / row.batchSize,
  }));
  const rowsMeasured = new Set([0, ...points.map((point) => point.row)]);
  const origins = [...rowsMeasured].map((row) => ({ row, x: 0, y: 0 }));
  return new RaggedGrid([...origins, ...points]);
}
