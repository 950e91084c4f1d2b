import type { Micros } from '@baton/kernel';
import { parseTimestamp } from './timestamp';
import type { Timestamp } from './timestamp';

/** One request of a trace. */
export interface TraceRequest {
  /** Since the first request of the trace. */
  readonly arrivalUs: Micros;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** Why a trace is not read any further: `file:line: reason`. */
export interface MalformedLine {
  readonly kind: 'malformed';
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

export type TraceLine =
  | { readonly kind: 'request'; readonly request: TraceRequest }
  /** The header, or nothing but blanks. */
  | { readonly kind: 'nothing' }
  | MalformedLine;

const COLUMNS = 'TIMESTAMP,ContextTokens,GeneratedTokens';
const BYTE_ORDER_MARK = '\uFEFF';
const COUNT = /^\d{1,10}$/;

/**
 * Reads the Azure LLM inference traces (Azure/AzurePublicDataset) line by line: a header, then timestamp, prompt tokens and generated tokens,
 * in the order of arrival. It opens no file; whoever does hands over the lines and the name that errors are to carry. Nothing is guessed: a line
 * that is not exactly that is refused.
 */
export class AzureTraceReader {
  private line = 0;
  private first: Timestamp | undefined;
  private lastUs: Micros = 0;

  constructor(private readonly file: string) {}

  push(text: string): TraceLine {
    this.line += 1;
    const row = (this.line === 1 ? text.replace(BYTE_ORDER_MARK, '') : text).trim();
    if (this.line === 1) {
      return row === COLUMNS ? { kind: 'nothing' } : this.refuse(`the header is not ${COLUMNS}`);
    }
    return row === '' ? { kind: 'nothing' } : this.read(row);
  }

  private read(row: string): TraceLine {
    const fields = row.split(',');
    if (fields.length !== 3) return this.refuse(`${fields.length} fields instead of 3`);
    const [when = '', context = '', generated = ''] = fields;
    const timestamp = parseTimestamp(when);
    if (timestamp === undefined) {
      return this.refuse(`TIMESTAMP "${shorten(when)}" is no time like 2023-11-16 18:15:46.68`);
    }
    const promptTokens = parseCount(context);
    if (promptTokens === undefined) {
      return this.refuse(`ContextTokens "${shorten(context)}" is no whole number from 1`);
    }
    const outputTokens = parseCount(generated);
    if (outputTokens === undefined) {
      return this.refuse(`GeneratedTokens "${shorten(generated)}" is no whole number from 1`);
    }
    this.first ??= timestamp;
    const arrivalUs = microsBetween(this.first, timestamp);
    if (arrivalUs < this.lastUs) return this.refuse('TIMESTAMP lies before that of the line above');
    this.lastUs = arrivalUs;
    return { kind: 'request', request: { arrivalUs, promptTokens, outputTokens } };
  }

  private refuse(reason: string): MalformedLine {
    return { kind: 'malformed', file: this.file, line: this.line, reason };
  }
}

/** All requests of a trace, or its first malformed line. */
export function readAzureTrace(
  file: string,
  lines: Iterable<string>,
): { readonly kind: 'requests'; readonly requests: TraceRequest[] } | MalformedLine {
  const reader = new AzureTraceReader(file);
  const requests: TraceRequest[] = [];
  for (const text of lines) {
    const line = reader.push(text);
    if (line.kind === 'malformed') return line;
    if (line.kind === 'request') requests.push(line.request);
  }
  return { kind: 'requests', requests };
}

/** Seconds and fractions apart, so that no digit of a 17-digit instant is lost. */
function microsBetween(from: Timestamp, to: Timestamp): Micros {
  return (to.seconds - from.seconds) * 1_000_000 + Math.round((to.nanos - from.nanos) / 1_000);
}

function parseCount(text: string): number | undefined {
  const count = COUNT.test(text) ? Number(text) : 0;
  return count >= 1 ? count : undefined;
}

function shorten(text: string): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ');
  return line.length > 40 ? `${line.slice(0, 40)}…` : line;
}
