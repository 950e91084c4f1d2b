import type { RequestCollector } from './request-collector';
import type { Trace, TraceFormat, TraceOptions, TraceReader } from './trace-reader';

/** A reader that collects one request per row, and ends at the limit of its options. */
export abstract class LimitedReader implements TraceReader {
  abstract readonly format: TraceFormat;
  /** Undefined before the first row of a format whose rows configure the collector. */
  protected abstract readonly collector: RequestCollector | undefined;

  constructor(protected readonly options: TraceOptions) {}

  get count(): number {
    return this.collector?.count ?? 0;
  }

  get isFull(): boolean {
    return this.count >= (this.options.limit ?? Infinity);
  }

  abstract push(line: string, lineNumber: number): void;
  abstract finishTrace(): Trace;
}
