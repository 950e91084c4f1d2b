import { unreachable } from '@baton/kernel';
import { AccessLogReader, isAccessLine } from './access-log';
import { BatonTraceReader } from './baton-trace';
import { columnNames, CSV_LAYOUTS, CsvTraceReader, neededColumns } from './csv-trace';
import { MooncakeTraceReader } from './mooncake-trace';
import { isRecordingHeader } from './recording';
import { isOtlpLine, OtlpTraceReader } from './otlp-trace';
import { isRouterLine, RouterLogReader } from './router-log';
import { isVllmLogLine, VllmLogReader } from './vllm-log';
import {
  quoted,
  type Trace,
  TRACE_FORMATS,
  TraceError,
  type TraceFormat,
  type TraceOptions,
  type TraceReader,
} from './trace-reader';

export function openTrace(format: TraceFormat, options: TraceOptions): TraceReader {
  switch (format) {
    case 'mooncake':
      return new MooncakeTraceReader(options);
    case 'otlp':
      return new OtlpTraceReader(options);
    case 'router':
      return new RouterLogReader(options);
    case 'vllm':
      return new VllmLogReader(options);
    case 'access':
      return new AccessLogReader(options);
    case 'baton':
      return new BatonTraceReader(options);
    case 'azure':
    case 'burstgpt':
    case 'vidur':
    case 'splitwise':
      return new CsvTraceReader(
        CSV_LAYOUTS.find((layout) => layout.format === format)!,
        options,
      );
    default:
      return unreachable(format);
  }
}

/** The format that the header or the keys of the first line show. Undefined when none matches. */
export function detectTraceFormat(firstLine: string): TraceFormat | undefined {
  const line = firstLine.trim();
  if (line.startsWith('{')) {
    if (isRecordingHeader(line)) return 'baton';
    if (isOtlpLine(line)) return 'otlp';
    if (isRouterLine(line)) return 'router';
    if (line.includes('"input_length"')) return 'mooncake';
    return line.includes('"prompt_tokens"') ? 'baton' : undefined;
  }
  if (isAccessLine(line)) return 'access';
  if (isVllmLogLine(line)) return 'vllm';
  const names = columnNames(line);
  const isOf = (needed: readonly string[]): boolean => needed.every((name) => names.includes(name));
  return CSV_LAYOUTS.find((layout) => isOf(neededColumns(layout)))?.format;
}

/**
 * A reader for the format of the first line that is not blank. A file without such a line is a
 * trace without requests.
 *
 * @throws TraceError from the first `push` when the line shows no known format
 */
export function openAnyTrace(options: TraceOptions): TraceReader {
  return new AnyTraceReader(options);
}

/** Reads a whole trace from memory. */
export function readTrace(
  lines: Iterable<string>,
  options: TraceOptions & { readonly format?: TraceFormat },
): Trace {
  const { format } = options;
  const reader = format === undefined ? openAnyTrace(options) : openTrace(format, options);
  let lineNumber = 0;
  for (const line of lines) {
    lineNumber += 1;
    reader.push(line, lineNumber);
    if (reader.isFull) break;
  }
  return reader.finishTrace();
}

class AnyTraceReader implements TraceReader {
  private reader: TraceReader | undefined;

  constructor(private readonly options: TraceOptions) {}

  get format(): TraceFormat {
    return this.reader?.format ?? 'baton';
  }

  get count(): number {
    return this.reader?.count ?? 0;
  }

  get isFull(): boolean {
    return this.reader?.isFull ?? false;
  }

  push(line: string, lineNumber: number): void {
    if (this.reader === undefined) {
      if (line.trim() === '') return;
      const format = detectTraceFormat(line);
      if (format === undefined) throw this.unknown(line, lineNumber);
      this.reader = openTrace(format, this.options);
    }
    this.reader.push(line, lineNumber);
  }

  finishTrace(): Trace {
    return (this.reader ?? openTrace(this.format, this.options)).finishTrace();
  }

  private unknown(line: string, lineNumber: number): TraceError {
    const reason =
      `${quoted(line)} does not begin a trace of a known format ` + `(${TRACE_FORMATS.join(', ')})`;
    return new TraceError(this.options.file, lineNumber, reason);
  }
}
