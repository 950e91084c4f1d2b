import type { Micros } from '@baton/kernel';
import { fromZero } from '../retime';
import { type Row, WorkloadBuilder, type WorkloadBuilderOptions } from '../workload-builder';
import type { Trace, TraceFormat } from './trace-reader';

/** The common part of the readers of all formats: it collects rows and counts corrections. */
export class RequestCollector {
  private readonly builder: WorkloadBuilder;
  private emptyPrompts = 0;
  private emptyOutputs = 0;
  private outOfOrder = 0;
  private latestUs: Micros = -Infinity;
  failed = 0;

  constructor(options: WorkloadBuilderOptions = {}) {
    this.builder = new WorkloadBuilder(options);
  }

  get count(): number {
    return this.builder.count;
  }

  /** Adds a request and returns its current row. Token counts can be 0. */
  add(row: Row): number {
    if (row.promptTokens === 0) this.emptyPrompts += 1;
    if (row.outputTokens === 0) this.emptyOutputs += 1;
    if (row.after === undefined) {
      if (row.arrivalUs < this.latestUs) this.outOfOrder += 1;
      else this.latestUs = row.arrivalUs;
    }
    if (row.promptTokens > 0 && row.outputTokens > 0) return this.builder.add(row);
    return this.builder.add({
      ...row,
      promptTokens: Math.max(1, row.promptTokens),
      outputTokens: Math.max(1, row.outputTokens),
    });
  }

  /** Adds the blocks of the last request: each id plus `offset`. A sum of 0 means private. */
  addContents(ids: ArrayLike<number>, offset: number): void {
    this.builder.addContents(ids, offset);
  }

  /**
   * @param zero `first-request`: the earliest request arrives at 0. `as-written`: the stamps stay.
   */
  finishTrace(format: TraceFormat, zero: 'first-request' | 'as-written'): Trace {
    const built = this.builder.build();
    const { emptyPrompts, emptyOutputs, failed, outOfOrder } = this;
    const report = { emptyPrompts, emptyOutputs, failed, outOfOrder };
    return {
      workload: zero === 'first-request' ? fromZero(built) : built,
      report: { format, requests: built.count, ...report },
    };
  }
}
