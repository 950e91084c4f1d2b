import type { Workload } from '../workload';

/** The formats, by their names in `--trace-format`. */
export const TRACE_FORMATS = [
  'azure',
  'mooncake',
  'burstgpt',
  'vidur',
  'splitwise',
  'otlp',
  'router',
  'vllm',
  'access',
  'baton',
] as const;
export type TraceFormat = (typeof TRACE_FORMATS)[number];

export interface TraceOptions {
  /** The name of the file in errors. */
  readonly file: string;
  /** Number of rows to read, from the beginning of the file. Default: all. */
  readonly limit?: number | undefined;
  /** mooncake: tokens per hash id. Default: 512, as in the released traces. */
  readonly blockTokens?: number | undefined;
}

/** Reads the lines of a trace. It opens no file. */
export interface TraceReader {
  readonly format: TraceFormat;
  /** Requests read so far. */
  readonly count: number;
  /** True when the limit is reached. Further lines are ignored. */
  readonly isFull: boolean;
  /**
   * @param line without its line feed; a carriage return, a byte order mark and blanks around it
   * are ignored
   * @param lineNumber from 1
   * @throws TraceError on a line that violates the format
   */
  push(line: string, lineNumber: number): void;
  /** Sorts the requests and returns the trace. Call it once, after the last line. */
  finishTrace(): Trace;
}

export interface Trace {
  readonly workload: Workload;
  readonly report: TraceReport;
}

/** Corrections that a reader made. */
export interface TraceReport {
  readonly format: TraceFormat;
  readonly requests: number;
  /**
   * Requests without prompt or without output. They now have one token, the minimum of an engine.
   */
  readonly emptyPrompts: number;
  readonly emptyOutputs: number;
  /** Rows left out because the trace marks the request as failed (BurstGPT: no response tokens). */
  readonly failed: number;
  /** Requests that arrived before the request of the line above. The reader sorts them. */
  readonly outOfOrder: number;
}

/** An invalid line of a trace. `message` is `file:line: reason`. */
export class TraceError extends Error {
  constructor(
    readonly file: string,
    /** Number of the line, from 1. */
    readonly line: number,
    readonly reason: string,
  ) {
    super(`${file}:${line}: ${reason}`);
    this.name = 'TraceError';
  }
}

const SHOWN = 40;

/** A text of the file for a message: one line, cut to a short length. */
export function quoted(text: string): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ');
  return `"${line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line}"`;
}
