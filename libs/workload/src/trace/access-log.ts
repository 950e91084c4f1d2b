import type { Micros } from '@baton/kernel';
import { CalendarClock } from './calendar-clock';
import { LoggerClock } from './logger-clock';
import { LimitedReader } from './limited-reader';
import { RequestCollector } from './request-collector';
import { type Trace, TraceError } from './trace-reader';

/** `127.0.0.1:54312 - "POST /v1/chat/completions HTTP/1.1" 200 OK`, as uvicorn writes it. */
const ACCESS = /"([A-Z]+) (\S+) HTTP\/[\d.]+" (\d{3})\b/;
/** `2026-01-02 03:04:05,678`, as `%(asctime)s` of Python's logging, or ISO 8601. */
const DATED = /\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:\d\d)?/;
/** `01-02 03:04:05`, as vLLM's logger writes it. */
const UNDATED = /\b(\d\d)-(\d\d) (\d\d:\d\d:\d\d)\b/;
const GENERATES = /^\/v1\/(?:chat\/completions|completions|responses|messages)(?:\?|$)/;

/** True for a line of an HTTP server's access log. */
export function isAccessLine(line: string): boolean {
  return ACCESS.test(line);
}

/**
 * Reads the access log of a vLLM server (uvicorn's). A request for tokens arrives at the time of
 * its line; one with another status than 2xx counts as failed. Other lines are ignored. The log has
 * no lengths, so each request has one token of prompt and one of output until a caller sets them.
 */
export class AccessLogReader extends LimitedReader {
  readonly format = 'access';
  protected readonly collector = new RequestCollector();
  private readonly dated = new CalendarClock();
  private readonly undated = new LoggerClock();

  push(line: string, lineNumber: number): void {
    const [, method, path = '', status = ''] = ACCESS.exec(line) ?? [];
    if (this.isFull || method !== 'POST' || !GENERATES.test(path)) return;
    if (!status.startsWith('2')) {
      this.collector.failed += 1;
      return;
    }
    const arrivalUs = this.instant(line.slice(0, line.indexOf('"')));
    if (Number.isNaN(arrivalUs)) throw new TraceError(this.options.file, lineNumber, NO_TIME);
    this.collector.add({ arrivalUs, promptTokens: 1, outputTokens: 1 });
  }

  finishTrace(): Trace {
    return this.collector.finishTrace(this.format, 'first-request');
  }

  /** @param prefix the line up to its request */
  private instant(prefix: string): Micros {
    const [dated] = DATED.exec(prefix) ?? [];
    if (dated !== undefined) return this.dated.read(dated.replace(',', '.'));
    const [, month, day = '', time = ''] = UNDATED.exec(prefix) ?? [];
    return month === undefined ? NaN : this.undated.read(month, day, time);
  }
}

const NO_TIME =
  'the access log has no valid time: add %(asctime)s to the format of the access formatter in ' +
  'the file of vllm serve --log-config-file';
