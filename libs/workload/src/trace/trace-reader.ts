import type { Workload } from '../workload';

/** Formats by the names that `--trace-format` takes. */
export const TRACE_FORMATS = [
  'azure',
  'mooncake',
  'burstgpt',
  'vidur',
  'splitwise',
  'otlp',
  'router',
  'vllm',
  'baton',
] as const;
export type TraceFormat = (typeof TRACE_FORMATS)[number];

export interface TraceOptions {
  /** The name that errors carry. */
  readonly file: string;
  /** Rows to take, from the beginning of the file; left out: all. */
  readonly limit?: number | undefined;
  /** mooncake: tokens per hash id; left out: 512, as in the released traces. */
  readonly blockTokens?: number | undefined;
}

/** Reads a trace line by line; it opens no file. */
export interface TraceReader {
  readonly format: TraceFormat;
  /** Requests taken so far. */
  readonly count: number;
  /** The limit is reached: further lines would be ignored. */
  readonly isFull: boolean;
  /**
   * @param line without its line feed; a carriage return, a byte order mark and blanks around it
   *   are no harm
   * @param lineNumber from 1
   * @throws TraceError on a line that is not exactly what the format says
   */
  push(line: string, lineNumber: number): void;
  /** Sorts what was read, once. The reader is spent afterwards. */
  end(): Trace;
}

export interface Trace {
  readonly workload: Workload;
  readonly report: TraceReport;
}

/** What a reader had to decide. */
export interface TraceReport {
  readonly format: TraceFormat;
  readonly requests: number;
  /**
   * Requests without prompt or without output, which now have one token: an engine takes no less.
   */
  readonly emptyPrompts: number;
  readonly emptyOutputs: number;
  /**
   * Rows left out because the trace says that the request failed (BurstGPT: no response tokens).
   */
  readonly failed: number;
  /** Requests that lay before the line above them; they were sorted. */
  readonly outOfOrder: number;
}

/** A line that cannot be what it should be. `message` is `file:line: reason`. */
export class TraceError extends Error {
  constructor(
    readonly file: string,
    /** From 1. */
    readonly line: number,
    readonly reason: string,
  ) {
    super(`${file}:${line}: ${reason}`);
    this.name = 'TraceError';
  }
}

const SHOWN = 40;

/** Foreign text for a message: one line, not too long. */
export function quoted(text: string): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ');
  return `"${line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line}"`;
}
