import { assert } from '@baton/kernel';
import type { BatchAggregates, StepTimeModel } from '@baton/step-time';
import { type CsvRow, rowsOf } from './files';

/** DistServe's own engine, and vLLM of that time. */
export type ComparedEngine = 'distserve' | 'vllm';

interface Line {
  readonly fromSeqs: number;
  readonly baseMs: number;
  readonly perTokenMs: number;
  /** Per squared token of a prompt; per sequence of a decode batch. */
  readonly thirdMs: number;
}

/**
 * The step times that the authors of DistServe fitted to both engines on A100, and that their
 * simulator uses: a line over prompt tokens with a square term, and lines over context tokens and
 * sequences for small and for large decode batches. A mixed step takes the sum of both.
 */
export class DistserveStepTime implements StepTimeModel {
  readonly description: string;
  private readonly prefill: Line;
  private readonly decode: readonly Line[];

  constructor(engine: ComparedEngine, model: string, tp: number) {
    this.description = `fit of DistServe's authors to ${engine}, ${model} TP${tp}`;
    const rows = rowsOf('published', 'distserve_osdi24_step_times.csv').filter(
      (row) => row['engine'] === engine && row['model'] === model && row['tp'] === `${tp}`,
    );
    const [prefill] = linesOf(rows, 'prefill');
    assert(prefill !== undefined, `no step times: ${this.description}`);
    this.prefill = prefill;
    this.decode = linesOf(rows, 'decode');
  }

  stepUs(batch: BatchAggregates): number {
    return 1_000 * (this.prefillMs(batch) + this.decodeMs(batch));
  }

  private prefillMs({ prefillTokens, prefillQuadratic }: BatchAggregates): number {
    if (prefillTokens === 0) return 0;
    const { baseMs, perTokenMs, thirdMs } = this.prefill;
    return baseMs + perTokenMs * prefillTokens + thirdMs * prefillQuadratic;
  }

  private decodeMs({ decodeSeqs, decodeContext }: BatchAggregates): number {
    if (decodeSeqs === 0) return 0;
    const line = this.decode.findLast(({ fromSeqs }) => fromSeqs <= decodeSeqs)!;
    return line.baseMs + line.perTokenMs * decodeContext + line.thirdMs * decodeSeqs;
  }
}

function linesOf(rows: readonly CsvRow[], phase: string): Line[] {
  return rows
    .filter((row) => row['phase'] === phase)
    .map((row) => ({
      fromSeqs: Number(row['from_seqs']),
      baseMs: Number(row['base_ms']),
      perTokenMs: Number(row['per_token_ms']),
      thirdMs: Number(row['third_ms']),
    }));
}
