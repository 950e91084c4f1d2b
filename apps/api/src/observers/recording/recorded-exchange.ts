import { wallUsOf } from '@baton/clock';
import type { LineFile } from '@baton/telemetry';
import type { WireTap } from '../../http/wire-tap';
import type { ObservedCall } from '../port/port';

/** A request of a client and its whole answer: a line of `record_answers`, which `play` serves. */
export interface RecordedExchange {
  readonly baton_exchange: 1;
  /** µs of the wall clock since the Unix epoch. */
  readonly arrival_us: number;
  readonly request_id: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly status: number;
  readonly answer_headers: Readonly<Record<string, string>>;
  /** `[µs since the arrival, what was written]`. */
  readonly writes: readonly (readonly [number, string])[];
  /** False when the client left or the answer exceeded the limit. */
  readonly complete: boolean;
}

/** Limit of one answer in characters; the rest is dropped. */
const MAX_ANSWER_CHARS = 8 * 1024 * 1024;
const SECRET = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-key)$/i;
const REDACTED = '[redacted]';

/** Gathers one exchange and writes its line when the answer is over. */
export class ExchangeTap implements WireTap {
  private status = 0;
  private headers: Record<string, string> = {};
  private readonly writes: [number, string][] = [];
  private chars = 0;
  private isWritten = false;

  constructor(
    private readonly file: LineFile,
    private readonly call: ObservedCall,
  ) {
    call.response.once('close', () => this.write(false));
  }

  head(status: number, headers: Readonly<Record<string, string | number>>): void {
    this.status = status;
    this.headers = redacted(headers);
  }

  bytes(text: string): void {
    this.chars += text.length;
    if (this.chars > MAX_ANSWER_CHARS) return;
    this.writes.push([Math.max(0, wallUsOf() - this.call.arrivalUs), text]);
  }

  endAnswer(): void {
    this.write(this.chars <= MAX_ANSWER_CHARS);
  }

  private write(complete: boolean): void {
    if (this.isWritten) return;
    this.isWritten = true;
    const { arrivalUs, requestId, message, body } = this.call;
    const line: RecordedExchange = {
      baton_exchange: 1,
      arrival_us: arrivalUs,
      request_id: requestId,
      method: message.method ?? 'POST',
      path: message.url ?? '',
      headers: redacted(message.headers),
      body,
      status: this.status,
      answer_headers: this.headers,
      writes: this.writes,
      complete,
    };
    this.file.add(JSON.stringify(line));
  }
}

function redacted(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const pairs = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[name, SECRET.test(name) ? REDACTED : String(value)]];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}
